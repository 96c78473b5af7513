import {expect, it, vi} from 'vitest';
import {Queue} from '../../src/loop/queue.ts';

it('of two timers of one key the sooner one counts', async () => {
  const run = vi.fn(() => undefined);
  const queue = new Queue({run, concurrency: () => 1});
  queue.addAfter('late first', 60_000);
  queue.addAfter('late first', 1);
  queue.addAfter('soon first', 1);
  queue.addAfter('soon first', 60_000);
  await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(2));
  expect(queue.size).toBe(0);
  await queue.stop();
});
