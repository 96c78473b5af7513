import {writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {crashPoint} from '../crash.ts';
import {takeLock} from '../lock.ts';
import {gitFailure} from './git.ts';
import {noObject} from './git-blobs.ts';
import {busy, isUnfinished, lockWords, underWay} from './git-busy.ts';
import type {IndexCopy} from './git-index-copy.ts';
import {recordText, release, type Workplace} from './git-locks.ts';
import {lockHolds, type RefUpdate} from './git-ref-update.ts';
import {type Head, headInFiles, sameHead} from './git-refs.ts';
import type {Repository} from './git-repository.ts';

export interface Move {
  repository: Pick<Repository, 'dirs' | 'processes' | 'top' | 'format'>;
  /** Prepared: the copy has what `tip` changes. */
  index: Pick<IndexCopy, 'isCurrent' | 'isForeignSince' | 'putInPlace'>;
  place: Workplace;
  head: Head;
  tip: string;
  update: RefUpdate;
}

/** A person's command may go on for so long after it wrote the index, where running commands cannot be seen. */
export const UNSEEN_MS = 50;

/**
 * Put the prepared index in place and move HEAD to `tip`, if nothing moved since both were prepared. The index comes
 * first, under its lock: one that is ahead of HEAD reverts nothing, whenever we are killed.
 */
export async function moveHead(move: Move): Promise<'done' | 'moved' | {wait: string}> {
  const {repository, index, place, head, tip, update} = move;
  const {dirs, processes, top, format} = repository;
  const indexLock = join(dirs.own, 'index.lock');
  const old = head.commit ?? noObject(format);
  release(place.record);
  writeFileSync(place.record, recordText(indexLock, old, tip), {flag: 'wx'});
  const why = busy(dirs, processes);
  if (why) return {wait: why};
  if (!processes.visible && index.isForeignSince(Date.now() - UNSEEN_MS)) return {wait: underWay('index')};
  const refLock = `${head.branch ? join(dirs.common, head.branch) : join(dirs.own, 'HEAD')}.lock`;
  const refused = await update.prepare(tip, old, () => lockHolds(refLock, tip));
  if (refused !== undefined) return refusal(top, refused);
  crashPoint('journal-ref-lock');
  // Git itself waits 100 ms for a lock of HEAD, but not a moment for that of the index: it comes last and goes first.
  if (!takeLock(place.record, indexLock)) return {wait: lockWords(indexLock)};
  try {
    crashPoint('journal-index-lock');
    const now = headInFiles(dirs);
    if ((now && !sameHead(head, now)) || !index.isCurrent() || isUnfinished(dirs)) return 'moved';
    index.putInPlace();
    const failed = await update.commit(() => headInFiles(dirs)?.commit === tip);
    if (failed !== undefined) return refusal(top, failed);
    crashPoint('journal-ref-rename');
  } finally {
    release(indexLock);
    crashPoint('journal-unlock');
  }
  return 'done';
}

/** A lock that somebody else holds is waited for; anything else means that HEAD moved. */
function refusal(top: string, words: string): 'moved' | {wait: string} {
  const lock = /'([^']+\.lock)': File exists/.exec(words)?.[1];
  if (lock !== undefined) return {wait: lockWords(resolve(top, lock))};
  if (/but expected|reference already exists|unable to resolve reference/.test(words)) return 'moved';
  throw gitFailure('update-ref', words);
}
