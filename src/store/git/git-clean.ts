import {type BigIntStats, lstatSync, readFileSync, readlinkSync} from 'node:fs';
import {join} from 'node:path';
import type {FileStat} from '../disk.ts';
import type {Repository} from './git-repository.ts';

/** A file changed twice within so many milliseconds may have the same time stamp. */
export const STAMP_MS = 10;
const TAKEN_BACK_MS = 1_000;

/** One change of a pending entry, with its path in the repository. */
export interface PendingChange {
  path: string;
  bytes: Buffer | undefined;
  mode: string;
  stat: FileStat | undefined;
  /** When it was handed over, milliseconds. */
  since: number;
}

type Place = Pick<Repository, 'top' | 'blobs'>;

/** Whether the file holds what is committed. */
export function isClean(place: Place, change: PendingChange): boolean {
  if (!change.stat || !change.bytes) return false;
  const path = join(place.top, change.path);
  const now = lstat(path);
  if (!now || !isSameFile(now, change.stat)) return false;
  const old = BigInt(change.since - STAMP_MS) * 1_000_000n;
  if (now.ctimeNs === change.stat.ctimeNs && now.ctimeNs < old) return true;
  return contentId(place, path, now) === place.blobs.id(change.bytes);
}

/**
 * The person's stash or checkout has just set the file back to what HEAD has. To commit the change now would make it
 * dirty under their hands, and `git stash pop` fail. The change waits a moment for them to bring it back.
 */
export function isTakenBack(place: Place, change: PendingChange, committed: string | undefined): boolean {
  if (Date.now() - change.since > TAKEN_BACK_MS || (change.bytes && !change.stat)) return false;
  const path = join(place.top, change.path);
  const now = lstat(path);
  if (!now) return change.bytes !== undefined && committed === undefined;
  if (change.stat && isSameFile(now, change.stat)) return false;
  return committed !== undefined && contentId(place, path, now) === committed;
}

export function isSameFile(a: FileStat, b: FileStat): boolean {
  return a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

/** Undefined if there is nothing, or nobody may look. */
export function lstat(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, {throwIfNoEntry: false, bigint: true});
  } catch {
    return undefined;
  }
}

const MAX_COMPARED = 4n * 1024n * 1024n;

/** The id a file's bytes would have as a blob; undefined if it is large or cannot be read. */
export function contentId({blobs}: Pick<Repository, 'blobs'>, path: string, stat: BigIntStats): string | undefined {
  if (stat.size > MAX_COMPARED) return undefined;
  try {
    return blobs.id(stat.isSymbolicLink() ? readlinkSync(path, {encoding: 'buffer'}) : readFileSync(path));
  } catch {
    return undefined;
  }
}
