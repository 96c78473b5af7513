import {setImmediate} from 'node:timers/promises';
import {expect, it} from 'vitest';
import {WorkspaceLocks} from '../../src/agents/state/workspace-locks.ts';

const never = new AbortController().signal;

/** Who is inside, in the order they went in. */
function visits() {
  const locks = new WorkspaceLocks();
  const inside: string[] = [];
  const enter = (name: string, alone: boolean, signal = never) => {
    const entered = locks.enter('coder', alone, signal).then(leave => {
      if (leave) inside.push(name);
      return leave;
    });
    return async () => {
      (await entered)?.();
      inside.splice(inside.indexOf(name), 1);
      await setImmediate();
    };
  };
  return {locks, inside, enter};
}

it('many share a room, and one who wants it alone waits for those before, not for those after', async () => {
  const {locks, inside, enter} = visits();
  const [a, b] = [enter('a', false), enter('b', false)];
  const c = enter('c', true);
  const d = enter('d', false);
  const e = enter('e', false);
  await setImmediate();
  expect(inside).toEqual(['a', 'b']);
  expect([locks.isFree('coder', false), locks.isFree('other', true)]).toEqual([false, true]);
  await a();
  expect(inside).toEqual(['b']);
  await b();
  expect(inside).toEqual(['c']);
  await c();
  expect(inside).toEqual(['d', 'e']);
  await d();
  await e();
  expect(locks.isFree('coder', true)).toBe(true);
});

it('who gives up lets those in who waited behind', async () => {
  const {inside, enter} = visits();
  const abort = new AbortController();
  enter('a', false);
  enter('b', true, abort.signal);
  enter('c', false);
  await setImmediate();
  expect(inside).toEqual(['a']);
  abort.abort();
  await setImmediate();
  expect(inside).toEqual(['a', 'c']);
});
