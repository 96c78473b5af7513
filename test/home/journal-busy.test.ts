import {expect, it} from 'vitest';
import {git} from '../cli/run.ts';
import {entry, open, repository, soundness, write} from './repository.ts';

const FILES = 200;
/** So long a turn of the loop takes. */
const TURN_MS = 25;

/** A process that has other things to do in every turn of its loop. */
function keepBusy(): () => void {
  let over = false;
  const work = () => {
    for (const end = performance.now() + TURN_MS; performance.now() < end; );
    if (!over) setImmediate(work);
  };
  setImmediate(work);
  return () => {
    over = true;
  };
}

it('what waits is published together, however little time there is for it: else the journal falls behind for ever', async () => {
  const dir = await repository({'memory/a.md': 'a\n'});
  const journal = await open(dir, {minGapMs: 200});
  await journal.add(entry(write(dir, 'memory/a.md', 'b\n')));
  const before = (await git(dir, 'reflog')).trim().split('\n').length;
  const idle = keepBusy();
  try {
    // Each is handed over as soon as it is written.
    const add = (i: number) => journal.add(entry(write(dir, `memory/${i}.md`, `${i}\n`.repeat(2_000)), `change ${i}`));
    await Promise.all(Array.from({length: FILES}, (_, i) => add(i)));
  } finally {
    idle();
  }
  const published = (await git(dir, 'reflog')).trim().split('\n').length - before;
  expect(published).toBeLessThanOrEqual(2);
  expect(await git(dir, 'rev-list', '--count', 'HEAD')).toBe(`${FILES + 2}\n`);
  expect(await soundness(dir)).toBe('');
});
