import {lstatSync, mkdirSync, renameSync, rmdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {crashPoint} from '../disk/crash.ts';
import {nodeDisk} from '../disk/disk.ts';
import {takeLock} from '../disk/lock.ts';
import {busyReason, lockText, underWayText, unfinishedOperation} from './git-busy.ts';
import {stampOf} from './git-commit.ts';
import type {IndexFile} from './git-index-file.ts';
import {recordText, release, type Workplace} from './git-locks.ts';
import {appendReflogs, type Head, readHead, sameHead} from './git-refs.ts';
import type {Repository} from './git-repository.ts';

export interface HeadMove {
  repository: Pick<Repository, 'dirs' | 'processes'>;
  /** The index that `place.index` was made from. */
  index: Pick<IndexFile, 'isCurrent' | 'isForeignSince'>;
  place: Workplace;
  head: Head;
  tip: string;
  /** Called when the new index is in place, its lock still held. */
  adopt: () => void;
  reflog: {who: string; what: string; create: boolean};
}

/** Where processes are not visible: how long a git command may run after it wrote the index. */
export const UNSEEN_MS = 50;

/**
 * Put the prepared index in place and move HEAD's branch (or HEAD itself) to `tip`, unless HEAD or the index changed meanwhile. The index
 * comes first: if the process is killed in between, an index ahead of HEAD reverts nothing. Synchronous, so that the index is locked for a
 * fraction of a millisecond only.
 */
export function moveHead({
  repository,
  index,
  place,
  head,
  tip,
  adopt,
  reflog,
}: HeadMove): 'done' | 'moved' | {wait: string} {
  const {dirs, processes} = repository;
  const target = head.branch ? join(dirs.common, head.branch) : join(dirs.own, 'HEAD');
  const refLock = `${target}.lock`;
  const indexLock = join(dirs.own, 'index.lock');
  const locks = [...new Set([join(dirs.own, 'HEAD.lock'), refLock, indexLock])];
  put(place.record, recordText(locks));
  put(place.ref, `${tip}\n`);
  makeRoom(target);
  const why = busyReason(dirs, processes);
  if (why) return {wait: why};
  if (!processes.visible && index.isForeignSince(Date.now() - UNSEEN_MS)) return {wait: underWayText('index')};
  const held: string[] = [];
  try {
    // Git waits 100 ms for ref locks but not for the index: lock the index last and release it first.
    for (const lock of locks) {
      if (!takeLock(nodeDisk(''), lock === refLock ? place.ref : place.record, lock)) return {wait: lockText(lock)};
      held.push(lock);
      crashPoint(lock === indexLock ? 'journal-index-lock' : 'journal-ref-lock');
    }
    if (!sameHead(head, readHead(dirs)) || !index.isCurrent() || unfinishedOperation(dirs)) return 'moved';
    renameSync(place.index, join(dirs.own, 'index'));
    crashPoint('journal-index-rename');
    adopt();
    renameSync(refLock, target);
    held.splice(held.indexOf(refLock), 1);
    crashPoint('journal-ref-rename');
    release(indexLock);
    held.splice(held.indexOf(indexLock), 1);
    crashPoint('journal-unlock');
    writeReflogs(repository, head, tip, reflog);
    return 'done';
  } finally {
    for (const lock of held.reverse()) release(lock);
  }
}

function writeReflogs(
  {dirs}: Pick<Repository, 'dirs'>,
  head: Head,
  tip: string,
  {who, what, create}: HeadMove['reflog'],
): void {
  try {
    appendReflogs(dirs, head, tip, `${who} ${stampOf(Date.now())}`, what, create);
  } catch {
    // HEAD has moved; a missing reflog line is not an error.
  }
}

/** Write a new file, because the last one may be a hard link of the branch by now. */
function put(path: string, text: string): void {
  release(path);
  writeFileSync(path, text, {flag: 'wx'});
}

/** Create the parent folder of a branch that is only in packed-refs, and remove an empty folder of its name. */
function makeRoom(target: string): void {
  const stat = lstatSync(target, {throwIfNoEntry: false});
  if (stat && !stat.isDirectory()) return;
  mkdirSync(dirname(target), {recursive: true});
  try {
    if (stat) rmdirSync(target);
  } catch {
    // Not empty, or gone: taking the lock reports it.
  }
}
