import {whenDone} from './once.ts';
import type {Serving} from './serving.ts';

/** A stop takes ten seconds at most: so long for calls to end by themselves, for looks under way, then for the journal. */
const STOP_CALLS_MS = 1_500;
const STOP_LOOKS_MS = 3_000;
const STOP_JOURNAL_MS = 5_000;

/** Finish what is under way, and what was saved just before the stop. `isBroken`: looks are not waited for. */
export async function settleDown(serving: Serving, isBroken: boolean): Promise<void> {
  const {queue, journal, versions, pending, turns, once, clock} = serving;
  const soon = (ms: number) => new Promise<void>(resolve => clock.after(ms, resolve));
  const looksMs = isBroken ? 0 : STOP_LOOKS_MS;
  serving.hurry = true;
  turns.stop();
  if (looksMs > 0) serving.spend.due();
  serving.spend.close();
  if (looksMs > 0) {
    for (const path of pending.keys()) queue.add(path);
    await Promise.race([whenDone(serving), soon(Math.min(looksMs, STOP_CALLS_MS))]);
    turns.endCalls('the daemon was stopped');
    await Promise.race([whenDone(serving), soon(looksMs)]);
  }
  await queue.stop();
  await journal.flush(once ? 0 : STOP_JOURNAL_MS);
  await journal.close();
  await versions.log.close();
}
