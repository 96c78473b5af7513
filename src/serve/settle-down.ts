import {whenDone} from './once.ts';
import type {With} from './parts.ts';

/** A stop takes ten seconds at most: so long for calls to end by themselves, for looks under way, then for the journal. */
const STOP_CALLS_MS = 1_500;
const STOP_LOOKS_MS = 3_000;
const STOP_JOURNAL_MS = 5_000;

/** Finish what is under way, and what was saved just before the stop. `isBroken`: looks are not waited for. */
export async function settleDown(daemon: With<'files' | 'turns' | 'spend'>, isBroken: boolean): Promise<void> {
  const {files, turns, spend} = daemon;

  const {queue, journal, versions, looks, phase, disk} = files;
  const {pending} = looks;
  const {once} = phase;
  const {clock} = disk;
  const soon = (ms: number) => new Promise<void>(resolve => clock.after(ms, resolve));
  const looksMs = isBroken ? 0 : STOP_LOOKS_MS;
  files.phase.hurry = true;
  turns.stop();
  if (looksMs > 0) spend.due();
  spend.close();
  if (looksMs > 0) {
    for (const path of pending.keys()) queue.add(path);
    await Promise.race([whenDone(daemon), soon(Math.min(looksMs, STOP_CALLS_MS))]);
    turns.endCalls('the daemon was stopped');
    await Promise.race([whenDone(daemon), soon(looksMs)]);
  }
  await queue.stop();
  await journal.flush(once ? 0 : STOP_JOURNAL_MS);
  await journal.close();
  await versions.log.close();
}
