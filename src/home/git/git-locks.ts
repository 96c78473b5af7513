import {existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync} from 'node:fs';
import {join} from 'node:path';
import {isAlive, startOf} from '../disk/process-life.ts';
import type {GitDirs} from './git-refs.ts';

/**
 * The daemon's files in a git folder name their process: agentdir-<pid>-<start>-<n>.<what>. A git lock is created as a hard link to one
 * of them, so that it is never empty and a later run recognizes its owner.
 */
const OURS = /^agentdir-(\d+)-(\d*)-\d+\.(?:record|ref|index(?:\.lock)?)$/;

let count = 0;
const start = startOf(process.pid);

export interface Workplace {
  record: string;
  ref: string;
  index: string;
}

/** File names for one journal of this process. */
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

/** The record lists the locks of a publish, so that a later run recognizes them after a crash. */
export function recordText(locks: readonly string[]): string {
  return `agentdir ${process.pid} ${start}\n${locks.join('\n')}\n`;
}

/**
 * Remove the files of dead agentdir processes: first their locks, then the files that identify these. If the crash came after the new
 * index was in place, complete the move of the branch: it is still locked, and an index ahead of HEAD would look like staged changes.
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

/** Remove the unfinished objects of dead agentdir processes (git-objects.ts names them after their process). */
export function clearStaleObjects({common}: GitDirs): void {
  const folder = join(common, 'objects');
  for (const name of readdirSync(folder)) {
    const pid = /^tmp_obj_(\d+)_\d+$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid), '')) rmSync(join(folder, name), {force: true});
  }
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
