import {createInterface} from 'node:readline/promises';
import {setTimeout as pause} from 'node:timers/promises';
import {exit, UserError} from '../../formats/common/errors.ts';

const {stdin, stdout} = process;
/** Ctrl-C, Ctrl-D. */
const LEAVE = ['\u0003', '\u0004'];
/** Time to discard input that was typed before the prompt. */
const DRAIN_MS = 20;

/** The error if a person quits at a prompt. */
export function leftError(): UserError {
  return new UserError('cancelled; nothing was written', exit.waiting, 'see agentdir approvals');
}

export function onTerminal(): boolean {
  return Boolean(stdin.isTTY && stdout.isTTY);
}

/** What `askKey` gives if its signal ended the question. */
export const ENDED = '\0ended';

/** Reads one key, or a word typed or pasted at once, without Enter. Undefined if the person quits, `ENDED` if `signal` ends the question. */
export async function askKey(prompt: string, signal?: AbortSignal): Promise<string | undefined> {
  stdin.setRawMode(true);
  try {
    stdin.resume();
    await pause(DRAIN_MS);
    stdout.write(prompt);
    for (;;) {
      const text = await nextKeys(signal);
      if (text === ENDED) return ENDED;
      if (text === undefined || LEAVE.some(key => text.includes(key))) return undefined;
      const word = text.trim();
      if (word !== '') return word;
    }
  } finally {
    stdin.pause();
    stdin.setRawMode(false);
    stdout.write('\n');
  }
}

/** Undefined if the terminal is gone. */
function nextKeys(signal: AbortSignal | undefined): Promise<string | undefined> {
  return new Promise(resolve => {
    const done = (keys: string | undefined) => {
      stdin.off('data', take).off('end', end);
      signal?.removeEventListener('abort', stop);
      resolve(keys);
    };
    const take = (keys: Buffer) => done(keys.toString());
    const end = () => done(undefined);
    const stop = () => done(ENDED);
    if (signal?.aborted) return stop();
    signal?.addEventListener('abort', stop);
    stdin.on('data', take).on('end', end);
  });
}

/** Reads a line; undefined if the person quits. */
export async function askLine(prompt: string): Promise<string | undefined> {
  const lines = createInterface({input: stdin, output: stdout, terminal: true});
  const left = new AbortController();
  lines.on('SIGINT', () => left.abort());
  lines.on('close', () => left.abort());
  try {
    return (await lines.question(prompt, {signal: left.signal})).trim();
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
    stdout.write('\n');
    return undefined;
  } finally {
    lines.close();
  }
}
