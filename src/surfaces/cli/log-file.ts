import {appendFileSync, renameSync, statSync} from 'node:fs';
import type {Report} from '../../formats/daemon-event.ts';
import {describeWhole} from './start.ts';

const MAX_BYTES = 10 * 1024 * 1024;
const ROTATE_EVERY = 100;

/** A reporter for a daemon without a terminal. The file and the one before it are kept: 20 MB at most. */
export function logReporter(path: string): Report {
  let lines = 0;
  let torn = false;
  return event => {
    const line = describeWhole(event);
    if (line === undefined) return;
    try {
      if (lines++ % ROTATE_EVERY === 0) rotate(path);
      appendFileSync(path, `${torn ? '\n' : ''}${new Date().toISOString()} ${line}\n`);
      torn = false;
    } catch (error) {
      torn = true;
      // A full disk must not stop the daemon for the sake of its log; NEEDS_YOU.md and status say what is wrong.
      // The log of a home that was moved is still open as our standard output.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT')
        process.stdout.write(`${new Date().toISOString()} ${line}\n`);
    }
  };
}

export function rotate(path: string): void {
  if ((statSync(path, {throwIfNoEntry: false})?.size ?? 0) > MAX_BYTES) renameSync(path, `${path}.1`);
}
