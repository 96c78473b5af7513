import fc from 'fast-check';
import {expect, it} from 'vitest';
import {deltaOf} from '../../src/home/git/git-deflate.ts';

it('a difference makes one text of the other, wherever they differ', () => {
  const piece = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(0, 1, 200, 4_095, 4_096, 9_000));
  const text = fc.array(piece, {maxLength: 5}).map(pieces => Buffer.from(pieces.map(([c, n]) => c.repeat(n)).join('')));
  fc.assert(
    fc.property(text, text, text, text, (head, old, now, tail) => {
      const [from, to] = [Buffer.concat([head, old, tail]), Buffer.concat([head, now, tail])];
      expect(patched(from, deltaOf(from, to)).equals(to)).toBe(true);
    }),
    {numRuns: 200},
  );
});

/** As git reads it. */
function patched(from: Buffer, delta: Buffer): Buffer {
  let at = 0;
  const next = () => delta[at++] ?? 0;
  const size = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = next();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  expect(size()).toBe(from.length);
  const length = size();
  const parts: Buffer[] = [];
  while (at < delta.length) {
    const order = next();
    if (order < 128) {
      parts.push(delta.subarray(at, at + order));
      at += order;
      continue;
    }
    const [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(bit => ((order >> bit) & 1 ? next() : 0)) as [
      ...[number, number, number, number, number, number],
    ];
    const start = a + b * 256 + c * 65_536 + d * 16_777_216;
    parts.push(from.subarray(start, start + e + f * 256));
  }
  const whole = Buffer.concat(parts);
  expect(whole.length).toBe(length);
  return whole;
}
