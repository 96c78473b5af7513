import type {With} from '../agents/state/parts.ts';
import {hasErrors} from '../formats/common/diagnostic.ts';
import {exit} from '../formats/common/errors.ts';
import type {HomeJournal} from '../home/home-git.ts';

/** So long somebody may be in the way of the journal. */
const JOURNAL_MS = 3_000;
/** So many times as long it may take to get on by one batch, on a busy machine. */
const SLOW = 10;

/**
 * Work until nothing is left to do, then say how it stands. 1: a session is in error, or something could not be
 * written or committed; 4: a file has errors; 3: something waits for a person; 0: all is done.
 */
export async function runOnce(daemon: With<'files' | 'reports' | 'turns' | 'spend'>): Promise<number> {
  const {files, reports, spend} = daemon;
  const {journal, index} = files;
  const {troubles} = reports;
  await waitUntilIdle(daemon);
  spend.due();
  await waitUntilIdle(daemon);
  const published = await allPublished(journal, JOURNAL_MS);
  const needs = index.needs();
  const stuck = !published || journal.unfinished() !== undefined;
  if (stuck || troubles.list().length > 0 || needs.some(({what}) => what === 'session')) return exit.failed;
  if (hasErrors(index.all())) return exit.badFile;
  return needs.some(({state}) => state === 'pending') ? exit.waiting : exit.done;
}

/** Whether all that was done is committed. After much work the journal is behind: it is waited for as long as it gets on. */
export async function allPublished(
  journal: Pick<HomeJournal, 'flush' | 'waiting' | 'count'>,
  ms: number,
): Promise<boolean> {
  let left = Number.POSITIVE_INFINITY;
  for (let stays = 0; stays < SLOW; ) {
    if (await journal.flush(ms)) return true;
    if (journal.waiting !== undefined) return false;
    stays = journal.count < left ? 0 : stays + 1;
    left = journal.count;
  }
  return false;
}

/** When nothing is left to look at, and nothing is under way. */
export async function waitUntilIdle({files, turns}: With<'files' | 'turns'>): Promise<void> {
  const {queue} = files;
  for (;;) {
    await queue.whenIdle();
    if (turns.underWay === 0) return;
    await turns.whenChanged();
  }
}
