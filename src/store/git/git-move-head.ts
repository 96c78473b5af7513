import {lstatSync, mkdirSync, renameSync, rmdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {crashPoint} from '../crash.ts';
import {nodeDisk} from '../disk.ts';
import {takeLock} from '../lock.ts';
import {type GitOptions, type GitResult, gitFailure} from './git.ts';
import {busy, isUnfinished, lockWords, underWay} from './git-busy.ts';
import {personText, stampOf} from './git-commit.ts';
import type {Person} from './git-config.ts';
import type {IndexCopy} from './git-index-copy.ts';
import {recordText, release, type Workplace} from './git-locks.ts';
import {appendReflogs, type Head, headInFiles, sameHead} from './git-refs.ts';
import type {Repository} from './git-repository.ts';

export interface Move {
  repository: Pick<Repository, 'dirs' | 'processes'>;
  /** Prepared: the copy has what `tip` changes. */
  index: Pick<IndexCopy, 'isCurrent' | 'isForeignSince' | 'putInPlace'>;
  place: Workplace;
  head: Head;
  tip: string;
  reflog: {who: Person; what: string; create: boolean};
  /** Runs git in the repository; used where branches are not files. */
  git: (args: readonly string[], options?: GitOptions) => Promise<GitResult>;
}

type Moved = 'done' | 'moved' | {wait: string};

/** A person's command may go on for so long after it wrote the index, where running commands cannot be seen. */
export const UNSEEN_MS = 50;

/**
 * Put the prepared index in place and move HEAD to `tip`, if nothing moved since both were prepared. The index comes
 * first, under its lock: one that is ahead of HEAD reverts nothing, whenever we are killed.
 *
 * A branch is moved as `git update-ref` moves it, by a lock file that is renamed. Starting git takes 2 ms of this
 * process on a quiet machine and 15 on a busy one; this takes a fraction of one, and so does the lock of the index.
 */
export async function moveHead(move: Move): Promise<Moved> {
  const {repository, index, place, head, tip} = move;
  const {dirs, processes} = repository;
  const target = head.branch ? join(dirs.common, head.branch) : join(dirs.own, 'HEAD');
  const isFile = headInFiles(dirs) !== undefined;
  const refLock = `${target}.lock`;
  const indexLock = join(dirs.own, 'index.lock');
  const locks = isFile ? [...new Set([join(dirs.own, 'HEAD.lock'), refLock, indexLock])] : [indexLock];
  put(place.record, recordText(locks));
  put(place.ref, `${tip}\n`);
  if (isFile) makeRoom(target);
  const why = busy(dirs, processes);
  if (why) return {wait: why};
  if (!processes.visible && index.isForeignSince(Date.now() - UNSEEN_MS)) return {wait: underWay('index')};
  const held = new Set<string>();
  try {
    // Git itself waits 100 ms for these, but not a moment for the index: that one comes last and goes first.
    for (const lock of locks) {
      if (!takeLock(nodeDisk(''), lock === refLock ? place.ref : place.record, lock)) return {wait: lockWords(lock)};
      held.add(lock);
      crashPoint(lock === indexLock ? 'journal-index-lock' : 'journal-ref-lock');
    }
    const now = headInFiles(dirs);
    if ((now && !sameHead(head, now)) || !index.isCurrent() || isUnfinished(dirs)) return 'moved';
    index.putInPlace();
    if (!isFile) return await moveByGit(move);
    renameSync(refLock, target);
    held.delete(refLock);
    crashPoint('journal-ref-rename');
    release(indexLock);
    held.delete(indexLock);
    crashPoint('journal-unlock');
    writeReflogs(move);
    return 'done';
  } finally {
    for (const lock of [...held].reverse()) release(lock);
  }
}

async function moveByGit({git, head, tip, reflog: {who, what}}: Move): Promise<Moved> {
  const old = head.commit ?? '0'.repeat(tip.length);
  const extra = {GIT_COMMITTER_NAME: who.name, GIT_COMMITTER_EMAIL: who.email};
  const {code, stderr} = await git(['update-ref', '-m', what, 'HEAD', tip, old], {extra});
  if (code === 0) return 'done';
  if (/but expected|reference already exists|unable to resolve reference/.test(stderr)) return 'moved';
  throw gitFailure('update-ref', stderr);
}

function writeReflogs({repository, head, tip, reflog: {who, what, create}}: Move): void {
  try {
    appendReflogs(repository.dirs, head, tip, `${personText(who)} ${stampOf(Date.now())}`, what, create);
  } catch {
    // HEAD has moved: the caller must know that, with or without a line in the reflog.
  }
}

/** A new file each time: the last one may be the branch itself by now, under a second name. */
function put(path: string, text: string): void {
  release(path);
  writeFileSync(path, text, {flag: 'wx'});
}

/** A branch known only to packed-refs has no folder, or an empty one of its own name. */
function makeRoom(target: string): void {
  const there = lstatSync(target, {throwIfNoEntry: false});
  if (there && !there.isDirectory()) return;
  mkdirSync(dirname(target), {recursive: true});
  try {
    if (there) rmdirSync(target);
  } catch {
    // Not empty, or gone: taking the lock tells.
  }
}
