import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {isAlive, startOf} from '../../home/disk/process-life.ts';
import type {CallCommit} from './workspace.ts';

/**
 * The git-dir has a file for each call that may change the workspace, from before the call starts until its changes are
 * committed. After a crash, or while two calls run, these tell whose changes are found.
 */
const FOLDER = 'agentdir-calls';

export interface CallMark {
  call: CallCommit;
  /** The call has ended, by itself or with its process, and is not committed yet. */
  over: boolean;
  died: boolean;
}

const own = {pid: process.pid, began: startOf(process.pid)};

export function markCall(gitDir: string, call: CallCommit, over = false): void {
  const path = markPath(gitDir, call);
  const text = JSON.stringify({...call, ...own, over});
  try {
    writeFileSync(path, text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    mkdirSync(join(gitDir, FOLDER), {recursive: true});
    writeFileSync(path, text);
  }
}

export function unmarkCall(gitDir: string, call: CallCommit): void {
  rmSync(markPath(gitDir, call), {force: true});
}

/** All marks, sorted by name; unreadable files are skipped. */
export function markedCalls(gitDir: string): CallMark[] {
  const folder = join(gitDir, FOLDER);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .flatMap(name => {
      try {
        const {pid, began, over, ...call} = JSON.parse(readFileSync(join(folder, name), 'utf8'));
        if (typeof call.session !== 'string' || typeof call.call !== 'string' || typeof call.words !== 'string')
          return [];
        const died = pid !== own.pid || began !== own.began ? !isAlive(Number(pid), String(began)) : false;
        return [{call, over: over === true || died, died}];
      } catch {
        return [];
      }
    });
}

const LAST = 'agentdir-last-call';

/** Remember the last call if the history has no commit of it; undefined clears it. */
export function markEmpty(gitDir: string, call: CallCommit | undefined): void {
  if (call) writeFileSync(join(gitDir, LAST), JSON.stringify(call));
  else rmSync(join(gitDir, LAST), {force: true});
}

/** Description of the call set by `markEmpty`. */
export function emptyCall(gitDir: string): string | undefined {
  try {
    const {words} = JSON.parse(readFileSync(join(gitDir, LAST), 'utf8'));
    return typeof words === 'string' ? words : undefined;
  } catch {
    return undefined;
  }
}

function markPath(gitDir: string, {session, call}: CallCommit): string {
  return join(gitDir, FOLDER, createHash('sha1').update(`${session}\0${call}`).digest('hex').slice(0, 20));
}
