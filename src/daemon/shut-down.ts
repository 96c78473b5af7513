import type {With} from '../agents/state/parts.ts';
import {waitUntilIdle} from './run-once.ts';

/** Time limits of a stop, ten seconds in all: for calls to end by themselves, for running looks, for the journal. */
const STOP_CALLS_MS = 1_500;
const STOP_LOOKS_MS = 3_000;
const STOP_JOURNAL_MS = 5_000;

/** `broken`: the disk lost data, or another daemon has taken the home. `gone`: the home was moved or deleted. */
export type StopReason = 'asked' | 'broken' | 'gone';

/**
 * Finish running work and files saved just before the stop. If nothing can be written any more, end running commands without waiting for
 * their results.
 */
export async function shutDown(daemon: With<'files' | 'turns' | 'spend'>, reason: StopReason): Promise<void> {
  const {files, turns, spend} = daemon;
  const {queue, journal, versions, looks, phase, disk} = files;
  const {pending} = looks;
  const {once} = phase;
  const {clock} = disk;
  const soon = (ms: number) => new Promise<void>(resolve => clock.after(ms, resolve));
  const looksMs = reason === 'asked' ? STOP_LOOKS_MS : 0;
  files.phase.hurry = true;
  turns.stop();
  if (looksMs > 0) spend.due();
  spend.close();
  if (looksMs > 0) {
    for (const path of pending.keys()) queue.add(path);
    await Promise.race([waitUntilIdle(daemon), soon(Math.min(looksMs, STOP_CALLS_MS))]);
    turns.endCalls('the daemon was stopped');
    await Promise.race([waitUntilIdle(daemon), soon(looksMs)]);
  } else {
    turns.endCalls('the daemon was stopped');
    await Promise.race([waitUntilIdle(daemon), soon(STOP_CALLS_MS)]);
  }
  await queue.stop();
  if (reason !== 'gone') await journal.flush(once ? 0 : STOP_JOURNAL_MS);
  await journal.close();
  await versions.log.close();
}
