import {setImmediate} from 'node:timers/promises';
import {expect, it} from 'vitest';
import {Queue} from '../../src/queue.ts';
import {Slots} from '../../src/serve/turns/slots.ts';

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
  const end = async (key: string) => {
    ends.get(key)?.();
    await setImmediate();
  };
  return {queue: new Queue({run, concurrency: () => concurrency}), begun, end};
}

it('a file that a person has just edited is looked at beside all that run, and before all that wait', async () => {
  const {queue, begun, end} = slowQueue(2);
  for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
  await setImmediate();
  expect(begun).toEqual(['a', 'b']);
  queue.prefer('mine');
  queue.add('mine');
  await setImmediate();
  expect(begun).toEqual(['a', 'b', 'mine']);
  // What follows from the edit goes first, too.
  queue.add('mine');
  await end('mine');
  expect(begun).toEqual(['a', 'b', 'mine', 'mine']);
  await end('mine');
  await end('a');
  expect(begun).toEqual(['a', 'b', 'mine', 'mine', 'c']);
});

it('of many edits the newest go first, and the others in their order', async () => {
  const {queue, begun, end} = slowQueue(1);
  queue.add('busy');
  const edits = Array.from({length: 40}, (_, i) => `edit ${i}`);
  await setImmediate();
  const before = begun.length;
  // All at once, before the queue has its turn.
  for (const key of edits) queue.prefer(key);
  for (const key of edits.slice(0, 20)) expect(queue.isPreferred(key)).toBe(false);
  for (const key of edits.slice(-16)) expect(queue.isPreferred(key)).toBe(true);
  for (const key of edits) queue.add(key);
  await setImmediate();
  expect(begun.slice(before).sort()).toEqual(edits.slice(-16).sort());
  for (const key of ['busy', ...edits.slice(-16)]) await end(key);
  expect(begun.slice(before + 16)).toEqual(['edit 0']);
});

it('a free slot goes to the question that somebody waits for, whenever they began to', async () => {
  const slots = new Slots(() => 1);
  const asked: string[] = [];
  const preferred = new Set<string>();
  const ask = (name: string) =>
    slots
      .take('server', never, () => preferred.has(name))
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
