import {join} from 'node:path';
import type {PendingChange} from './git-batch.ts';
import {contentId, isSameFile, lstat} from './git-index-file.ts';
import {objectId} from './git-objects.ts';

/** A file changed twice within so many milliseconds may have the same time stamp. */
export const STAMP_MS = 10;
const TAKEN_BACK_MS = 1_000;

/** The stat that makes an index entry clean for git; undefined unless the file is proven to hold what was committed. */
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
 * The person's stash or checkout has just set the file back to what HEAD has. To commit the change now would make it
 * dirty under their hands, and `git stash pop` fail. It is not dropped, but they get a moment to bring it back.
 */
export function isTakenBack(top: string, change: PendingChange, committed: string | undefined): boolean {
  if (Date.now() - change.since > TAKEN_BACK_MS || (change.bytes && !change.stat)) return false;
  const path = join(top, change.path);
  const now = lstat(path);
  if (!now) return change.bytes !== undefined && committed === undefined;
  if (change.stat && isSameFile(now, change.stat)) return false;
  return committed !== undefined && contentId(path, now) === committed;
}
