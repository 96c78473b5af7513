import {join} from 'node:path';
import type {PendingChange} from './git-batch.ts';
import {contentId, isSameFile, lstat} from './git-index-file.ts';
import {objectId} from './git-objects.ts';

/** Two changes within this time may have the same timestamp. */
export const STAMP_MS = 10;
const TAKEN_BACK_MS = 1_000;

/** The stat that makes an index entry clean. Undefined unless the file is known to hold the committed content. */
export function cleanStat(top: string, change: PendingChange): PendingChange['stat'] {
  if (!change.stat || !change.bytes) return undefined;
  const path = join(top, change.path);
  const now = lstat(path);
  if (!now || !isSameFile(now, change.stat)) return undefined;
  const old = BigInt(change.since - STAMP_MS) * 1_000_000n;
  if (now.ctimeNs === change.stat.ctimeNs && now.ctimeNs < old) return now;
  if (now.mtimeNs > BigInt(Date.now() - STAMP_MS) * 1_000_000n) return undefined;
  return contentId(path, now) === objectId('sha1', 'blob', change.bytes) ? now : undefined;
}

/**
 * Whether the person's stash or checkout has just reset the file to HEAD's version. Committing the change now would make the file dirty
 * and `git stash pop` fail. The commit waits a moment for the person to restore the file.
 */
export function isTakenBack(top: string, change: PendingChange, committed: string | undefined): boolean {
  if (Date.now() - change.since > TAKEN_BACK_MS || (change.bytes && !change.stat)) return false;
  const path = join(top, change.path);
  const now = lstat(path);
  if (!now) return change.bytes !== undefined && committed === undefined;
  if (change.stat && isSameFile(now, change.stat)) return false;
  return committed !== undefined && contentId(path, now) === committed;
}
