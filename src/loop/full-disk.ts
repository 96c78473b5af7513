import {UserError} from '../formats/common/errors.ts';
import type {Report} from '../formats/daemon-event.ts';
import type {Clock} from '../home/disk/clock.ts';

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
export async function waitForRoom<T>(
  {clock, report, asked}: {clock: Clock; report: Report; asked: Promise<unknown>},
  step: () => T | Promise<T>,
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
      const what =
        error instanceof UserError ? error.message : 'the disk is full; the daemon goes on when there is room';
      if (told === undefined) report({event: 'trouble', what});
      told ??= what;
    }
    await Promise.race([clock.pause(RETRY_MS), asked]);
  }
  return undefined;
}
