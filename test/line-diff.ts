import {expect} from 'vitest';

/** The lines of `before` (numbers from 1) that an edit replaced, as one run: everything above and below is untouched. */
export function changedLines(before: string, after: string): {from: number; to: number; added: string[]} {
  const old = before.split('\n');
  const now = after.split('\n');
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  return {from: head + 1, to: old.length - tail, added: now.slice(head, now.length - tail)};
}

/** An edit replaced nothing outside lines first…last (numbers from 1); an insertion right after `last` is within. */
export function expectWithin(before: string, after: string, first: number, last: number): void {
  const {from, to} = changedLines(before, after);
  if (from > to) expect(from, 'inserted above').toBeGreaterThanOrEqual(first);
  else
    expect(
      [from >= first, to <= last],
      `changed ${from}–${to}, named ${first}–${last}\n${before}\n=>\n${after}`,
    ).toEqual([true, true]);
}
