import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {isAlive, startOf} from '../../home/disk/process-life.ts';
import type {CallCommit} from './workspace.ts';

/**
 * A file in the git-dir for each call that may change the workspace, from before it begins until what it changed is
 * committed: so that, after a crash or while two run at once, what is found there is known as whose it is.
 */
const FOLDER = 'agentdir-calls';

export interface CallMark {
  call: CallCommit;
  /** It has ended, by itself or with its process, and is not committed yet. */
  over: boolean;
  /** Its process died with it. */
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

/** All that are marked, in order of their names; what cannot be read is no mark. */
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

/** The last call, if the history has nothing of it; `undefined`: it has. */
export function markEmpty(gitDir: string, call: CallCommit | undefined): void {
  if (call) writeFileSync(join(gitDir, LAST), JSON.stringify(call));
  else rmSync(join(gitDir, LAST), {force: true});
}

/** In words. */
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
