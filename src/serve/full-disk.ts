import {setTimeout as pause} from 'node:timers/promises';
import type {Report} from '../happening.ts';
import {inWords, type Troubles} from './troubles.ts';

const RETRY_MS = 2_000;

/** Whether this failed because a disk, or a person's share of it, is full. */
export function isDiskFull(error: unknown): boolean {
  const {code, cause} = error as NodeJS.ErrnoException & {cause?: unknown};
  return code === 'ENOSPC' || code === 'EDQUOT' || (cause !== undefined && isDiskFull(cause));
}

/**
 * Do a step without which nothing can be served. A full disk is reported, and the step is done again until there is
 * room. Undefined if the daemon was asked to stop meanwhile.
 */
export async function untilRoom<T>(
  step: () => Promise<T>,
  report: Report,
  asked: Promise<unknown>,
): Promise<T | undefined> {
  let told: string | undefined;
  let isStopped = false;
  void asked.then(() => {
    isStopped = true;
  });
  while (!isStopped) {
    try {
      const result = await step();
      if (told !== undefined) report({event: 'over', what: told});
      return result;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      if (told === undefined) report({event: 'trouble', what: (error as Error).message});
      told ??= (error as Error).message;
    }
    await Promise.race([pause(RETRY_MS), asked]);
  }
  return undefined;
}

/** Do a step that the rest does not wait for: on a full disk it is a trouble, and done again until there is room. */
export async function retryWhileFull(
  troubles: Troubles,
  path: string,
  step: () => void | Promise<void>,
): Promise<void> {
  try {
    await step();
    troubles.set(`full ${path}`, undefined);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    troubles.set(`full ${path}`, inWords(path, error as Error));
    setTimeout(() => void retryWhileFull(troubles, path, step).catch(() => {}), RETRY_MS).unref();
  }
}
