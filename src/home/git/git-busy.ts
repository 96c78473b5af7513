import {existsSync, lstatSync} from 'node:fs';
import {basename, join} from 'node:path';
import {filesOpenElsewhere} from '../disk/open-files.ts';
import type {GitProcesses} from './git-processes.ts';
import type {GitDirs} from './git-refs.ts';

/** Files that git keeps in its folder during an unfinished operation. */
const unfinished = ['MERGE_HEAD', 'rebase-merge', 'rebase-apply', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'BISECT_LOG'];

export function unfinishedOperation(dirs: GitDirs): string | undefined {
  return unfinished.find(name => existsSync(join(dirs.own, name)));
}

/** Why nothing can be committed now: the person's unfinished operation or running git command, or index.lock. */
export function busyReason(dirs: GitDirs, processes: GitProcesses): string | undefined {
  const found = unfinishedOperation(dirs) ?? (existsSync(join(dirs.own, 'index.lock')) ? 'index.lock' : undefined);
  const command = found && found !== 'index.lock' ? undefined : processes.underWay();
  if (command) return underWayText(command);
  return found === 'index.lock' ? lockText(join(dirs.own, found)) : found && underWayText(found);
}

export function underWayText(what: string): string {
  return `your own git command is under way (${what}); edits are committed when it is done`;
}

const STALE_MS = 10 * 60_000;

/**
 * Describe a lock. A foreign lock is never removed: git's locks name no process, and a command on another machine that shares the disk is
 * not visible. If the lock is old and no process here has it open, the text says how to remove it.
 */
export function lockText(path: string): string {
  const age = Date.now() - (lstatSync(path, {throwIfNoEntry: false})?.mtimeMs ?? Date.now());
  const name = basename(path);
  const isOpen = age >= STALE_MS && [...filesOpenElsewhere()].some(({target}) => target === path);
  if (age < STALE_MS || isOpen) return underWayText(name);
  return `${name} is ${Math.round(age / 60_000)} minutes old and no process here uses it: a git command was killed. If none of yours is running, remove it: rm ${path}`;
}
