import {existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync} from 'node:fs';
import {join} from 'node:path';
import {isAlive, startOf} from '../disk/process-life.ts';
import type {GitDirs} from './git-refs.ts';

/**
 * Files of ours in a git folder name their process: agentdir-<pid>-<start>-<n>.<what>. A lock file of git's is made as
 * a hard link to one of them, so it has its content from its first moment, and a later run knows whose it was.
 */
const OURS = /^agentdir-(\d+)-(\d*)-\d+\.(?:record|ref|index(?:\.lock)?)$/;

let count = 0;
const start = startOf(process.pid);

export interface Workplace {
  record: string;
  ref: string;
  index: string;
}

/** Names for the files of one journal of this process. */
export function workplace(dirs: GitDirs): Workplace {
  const base = join(dirs.own, `agentdir-${process.pid}-${start}-${count++}`);
  return {record: `${base}.record`, ref: `${base}.ref`, index: `${base}.index`};
}

export function release(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** The record names the locks a publish takes, so that they are known as ours after a crash. */
export function recordText(locks: readonly string[]): string {
  return `agentdir ${process.pid} ${start}\n${locks.join('\n')}\n`;
}

/**
 * Remove what dead processes of ours left behind: their locks first, then the files that prove them ours. Where the
 * index was in place already, the branch follows it: nobody could move it, for it was locked all the time; and an index
 * ahead of HEAD would show as something the person has staged.
 */
export function clearStaleGitLocks(dirs: GitDirs): void {
  const names = readdirSync(dirs.own).filter(name => {
    const [, pid, began = ''] = OURS.exec(name) ?? [];
    return pid !== undefined && !isAlive(Number(pid), began);
  });
  const files = names.map(name => join(dirs.own, name));
  for (const record of files.filter(path => path.endsWith('.record'))) {
    const ref = record.replace(/record$/, 'ref');
    const halfDone = !existsSync(record.replace(/record$/, 'index'));
    for (const lock of textOf(record).split('\n').slice(1)) {
      if (!lock.endsWith('.lock')) continue;
      if (halfDone && isSame(ref, lock)) renameSync(lock, lock.slice(0, -'.lock'.length));
      else if ([record, ref].some(path => isSame(path, lock))) release(lock);
    }
  }
  for (const path of files.sort((a, b) => Number(a.endsWith('.record')) - Number(b.endsWith('.record'))))
    rmSync(path, {force: true});
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
