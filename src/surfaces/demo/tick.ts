import {setTimeout as pause} from 'node:timers/promises';
import {UserError} from '../../formats/common/errors.ts';
import {authorHere} from '../../home/git/git-config.ts';
import {approving} from '../actions/decide/choose.ts';
import {decide} from '../actions/decide/decide.ts';
import type {Request} from '../actions/decide/queue.ts';

const {stdin, stdout} = process;
/** Discards earlier input. */
const DRAIN_MS = 20;

/** Ticks the box like `agentdir approve`. Returns the error text, if any. */
export async function tick(home: string, request: Request): Promise<string | undefined> {
  try {
    await decide(home, [await approving({home, request, by: await authorHere(home), always: false})]);
    return undefined;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.message;
  }
}

/** Resolves at Enter on a terminal. A word before Enter does not count: it may be meant as a rejection. */
export async function untilEnter(signal: AbortSignal, otherwise: (typed: string) => void): Promise<void> {
  if (!stdin.isTTY || !stdout.isTTY) return new Promise(() => {});
  stdin.setEncoding('utf8').resume();
  try {
    await pause(DRAIN_MS, undefined, {signal});
    await new Promise<void>((resolve, reject) => {
      const take = (line: string) => {
        if (line.trim() === '') resolve();
        else otherwise(line.trim());
      };
      stdin.on('data', take);
      const leave = () => {
        stdin.off('data', take);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, {once: true});
    });
  } finally {
    stdin.removeAllListeners('data').pause();
  }
}
