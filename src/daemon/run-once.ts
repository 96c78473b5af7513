import type {With} from '../agents/state/parts.ts';
import {hasErrors} from '../formats/common/diagnostic.ts';
import {exit} from '../formats/common/errors.ts';
import type {HomeJournal} from '../home/home-git.ts';

/** How long to wait for the journal at a time. */
const JOURNAL_MS = 3_000;
/** How many times in a row the journal may make no progress, on a busy machine. */
const SLOW = 10;

/**
 * Work until nothing is left to do, then return the exit code. 1: a session is in error, or something could not be written or committed;
 * 4: a file has errors; 3: something waits for a person; 0: all is done.
 */
export async function runOnce(daemon: With<'files' | 'reports' | 'turns' | 'spend' | 'inboxes'>): Promise<number> {
  const {files, reports, spend} = daemon;
  const {journal, index} = files;
  const {troubles} = reports;
  await waitUntilIdle(daemon);
  for (const {starting} = daemon.inboxes.schedules; starting.size > 0; await waitUntilIdle(daemon))
    await Promise.race(starting);
  spend.due();
  await waitUntilIdle(daemon);
  const published = await allPublished(journal, JOURNAL_MS);
  const needs = index.needs();
  const stuck = !published || journal.unfinished() !== undefined;
  if (stuck || troubles.list().length > 0 || needs.some(({what}) => what === 'session')) return exit.failed;
  if (hasErrors(index.all())) return exit.badFile;
  return needs.some(({state}) => state === 'pending') ? exit.waiting : exit.done;
}

/** Wait for the journal as long as it makes progress. Returns whether everything is committed. */
export async function allPublished(
  journal: Pick<HomeJournal, 'flush' | 'waiting' | 'count'>,
  ms: number,
): Promise<boolean> {
  let waiting = Number.POSITIVE_INFINITY;
  for (let stalls = 0; stalls < SLOW; ) {
    if (await journal.flush(ms)) return true;
    if (journal.waiting !== undefined) return false;
    stalls = journal.count < waiting ? 0 : stalls + 1;
    waiting = journal.count;
  }
  return false;
}

/** Resolves when the queue is idle and no turn is running. */
export async function waitUntilIdle({files, turns}: With<'files' | 'turns'>): Promise<void> {
  const {queue} = files;
  for (;;) {
    await queue.whenIdle();
    if (turns.underWay === 0) return;
    await turns.whenChanged();
  }
}
