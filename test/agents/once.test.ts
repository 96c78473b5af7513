import {expect, it} from 'vitest';
import {allPublished} from '../../src/daemon/run-once.ts';

/** A journal that publishes `pace` changes while it is waited for. */
const journal = (count: number, pace: number, waiting?: string) => ({
  count,
  waiting,
  asked: 0,
  async flush() {
    this.asked++;
    this.count = Math.max(0, this.count - pace);
    return this.count === 0;
  },
});

it('`start --once` waits for a journal that is behind as long as it gets on', async () => {
  expect(await allPublished(journal(0, 1), 1)).toBe(true);
  expect(await allPublished(journal(500, 20), 1)).toBe(true);
});

it('and neither for one that somebody is in the way of, nor for ever', async () => {
  const kept = journal(5, 0, 'index.lock');
  expect(await allPublished(kept, 1)).toBe(false);
  expect(kept.asked).toBe(1);
  expect(await allPublished(journal(5, 0), 1)).toBe(false);
});
