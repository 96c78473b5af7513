import {UserError} from '../formats/common/errors.ts';
import type {Report} from '../formats/daemon-event.ts';
import type {Clock} from '../home/disk/clock.ts';

const RETRY_MS = 2_000;

/** Whether a disk or a quota is full. */
export function isDiskFull(error: unknown): boolean {
  const {code, cause} = error as NodeJS.ErrnoException & {cause?: unknown};
  return code === 'ENOSPC' || code === 'EDQUOT' || (cause !== undefined && isDiskFull(cause));
}

/**
 * Run a step that the daemon cannot start without. If the disk is full, report it and retry until there is room. Returns undefined if
 * `asked` resolves first: the daemon is to stop.
 */
export async function waitForRoom<T>(
  {clock, report, asked}: {clock: Clock; report: Report; asked: Promise<unknown>},
  step: () => T | Promise<T>,
): Promise<T | undefined> {
  let reported: string | undefined;
  let isStopped = false;
  void asked.then(() => {
    isStopped = true;
  });
  while (!isStopped) {
    try {
      const result = await step();
      if (reported !== undefined) report({event: 'over', what: reported});
      return result;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      const what =
        error instanceof UserError ? error.message : 'the disk is full; the daemon continues when there is room';
      if (reported === undefined) report({event: 'trouble', what});
      reported ??= what;
    }
    await Promise.race([clock.pause(RETRY_MS), asked]);
  }
  return undefined;
}
