import {setImmediate} from 'node:timers/promises';
import {expect, it, vi} from 'vitest';
import {SlotPool} from '../../src/agents/state/slots.ts';
import {Queue} from '../../src/loop/queue.ts';

const never = new AbortController().signal;

/** A queue whose runs end when they are told to. */
function slowQueue(concurrency: number) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (key: string) =>
    new Promise<undefined>(resolve => {
      begun.push(key);
      ends.set(key, () => resolve(undefined));
    });
  const end = (key: string) => ends.get(key)?.();
  return {queue: new Queue({run, concurrency: () => concurrency}), begun, end};
}

it('a file that a person has just edited is looked at beside all that run, and before all that wait', async () => {
  const {queue, begun, end} = slowQueue(2);
  const have = (...keys: string[]) => vi.waitFor(() => expect(begun).toEqual(keys));
  for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
  await have('a', 'b');
  queue.prefer('mine');
  queue.add('mine');
  await have('a', 'b', 'mine');
  // What follows from the edit goes first, too.
  queue.add('mine');
  end('mine');
  await have('a', 'b', 'mine', 'mine');
  end('mine');
  end('a');
  await have('a', 'b', 'mine', 'mine', 'c');
});

it('of many edits the newest go first, and the others in their order', async () => {
  const {queue, begun, end} = slowQueue(1);
  queue.add('busy');
  await vi.waitFor(() => expect(begun).toEqual(['busy']));
  const edits = Array.from({length: 40}, (_, i) => `edit ${i}`);
  const newest = edits.slice(-16);
  for (const key of edits) queue.prefer(key);
  expect(edits.filter(key => queue.isPreferred(key))).toEqual(newest);
  for (const key of edits) queue.add(key);
  await vi.waitFor(() => expect(begun.slice(1).sort()).toEqual([...newest].sort()));
  for (const key of ['busy', ...newest]) end(key);
  await vi.waitFor(() => expect(begun.slice(17)).toEqual(['edit 0']));
});

it('a free slot goes to the question that somebody waits for, whenever they began to', async () => {
  const slots = new SlotPool(() => 1);
  const asked: string[] = [];
  const preferred = new Set<string>();
  const ask = (name: string) =>
    slots
      .acquire('server', never, () => preferred.has(name))
      .then(release => {
        asked.push(name);
        return release;
      });
  const [first, second, third, fourth] = ['first', 'second', 'third', 'fourth'].map(ask);
  await setImmediate();
  preferred.add('third');
  (await first)?.();
  await setImmediate();
  expect(asked).toEqual(['first', 'third']);
  (await third)?.();
  (await second)?.();
  (await fourth)?.();
  expect(asked).toEqual(['first', 'third', 'second', 'fourth']);
});
