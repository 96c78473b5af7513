import {spawnSync} from 'node:child_process';
import {existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync} from 'node:fs';
import {join} from 'node:path';
import {isAlive, startOf} from '../process-life.ts';
import {fixedOptions, gitEnvironment} from './git.ts';
import type {GitDirs} from './git-refs.ts';

/**
 * Files of ours in a git folder name their process: agentdir-<pid>-<start>-<n>.<what>. The lock of the index is made as
 * a hard link to the record, so it has its content from its first moment, and a later run knows whose it was.
 */
const OURS = /^agentdir-(\d+)-(\d*)-\d+\.(?:record|ref|index(?:\.lock)?)$/;

let count = 0;
const start = startOf(process.pid);

export interface Workplace {
  /** What a publish is about to do. */
  record: string;
  /** The index while it is prepared. */
  index: string;
}

/** Names for the files of one journal of this process. */
export function workplace(dirs: GitDirs): Workplace {
  const base = join(dirs.own, `agentdir-${process.pid}-${start}-${count++}`);
  return {record: `${base}.record`, index: `${base}.index`};
}

export function release(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** The record names the lock of the index, and how HEAD moves, so that a later run can finish or undo a publish. */
export function recordText(indexLock: string, from: string, to: string): string {
  return `agentdir ${process.pid} ${start}\n${indexLock}\n${from} ${to}\n`;
}

/**
 * Remove what dead processes of ours left behind. Where the new index was in place already, HEAD follows it: an index
 * ahead of HEAD would show as something the person has staged.
 */
export function clearLeftovers(dirs: GitDirs): void {
  const names = readdirSync(dirs.own).filter(name => {
    const [, pid, began = ''] = OURS.exec(name) ?? [];
    return pid !== undefined && !isAlive(Number(pid), began);
  });
  const files = names.map(name => join(dirs.own, name));
  for (const record of files.filter(path => path.endsWith('.record'))) {
    const lines = textOf(record).split('\n').slice(1);
    const isInPlace = !existsSync(record.replace(/record$/, 'index'));
    for (const lock of lines.filter(line => line.endsWith('.lock'))) {
      // Versions of agentdir before 0.2 took all locks themselves; that of the branch was a link to `.ref`.
      const isBranch = isSame(record.replace(/record$/, 'ref'), lock);
      if (!isBranch && !isSame(record, lock)) continue;
      if (isInPlace && isBranch) renameSync(lock, lock.slice(0, -'.lock'.length));
      else if (isInPlace) finishMove(dirs, lines.find(line => !line.endsWith('.lock')) ?? '');
      release(lock);
    }
  }
  // The copy of an index last: without it, a record means that the copy is in place.
  for (const path of files.sort((a, b) => Number(b.endsWith('.record')) - Number(a.endsWith('.record'))))
    rmSync(path, {force: true});
}

/** If HEAD is still where it was, or cannot be moved: it stays, and the next start commits what the files hold. */
function finishMove({own}: GitDirs, move: string): void {
  const [from = '', to = ''] = move.split(' ');
  if (!/^[0-9a-f]{40,64}$/.test(from) || !/^[0-9a-f]{40,64}$/.test(to)) return;
  const identity = {GIT_COMMITTER_NAME: 'agentdir', GIT_COMMITTER_EMAIL: 'agentdir@localhost'};
  const args = [...fixedOptions, '--git-dir', own, 'update-ref', '-m', 'commit: recovered', 'HEAD', to, from];
  spawnSync('git', args, {cwd: own, env: gitEnvironment(process.env, identity), stdio: 'ignore'});
}

function isSame(path: string, lock: string): boolean {
  const a = statSync(path, {throwIfNoEntry: false});
  const b = lstatSync(lock, {throwIfNoEntry: false});
  if (!a || !b) return false;
  return (a.ino === b.ino && a.dev === b.dev) || (b.size > 0 && textOf(path) === textOf(lock));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
