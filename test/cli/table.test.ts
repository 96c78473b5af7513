import fc from 'fast-check';
import {expect, it} from 'vitest';
import {breakAt, textWidth} from '../../src/surfaces/cli/table.ts';

it('breaks lines at words where one ends near, and leaves nothing out', () => {
  expect(breakAt('one two three', 9, true)).toEqual(['one two ', 'three']);
  expect(breakAt('a bbbbbbbbbbbb', 6, true)).toEqual(['a bbbb', 'bbbbbb', 'bb']);
  const text = fc.string({unit: fc.constantFrom(' ', 'a', 'b', '世', '⟨'), maxLength: 60});
  fc.assert(
    fc.property(text, fc.integer({min: 2, max: 12}), (line, width) => {
      const parts = breakAt(line, width, true);
      expect(parts.join('')).toBe(line);
      for (const part of parts) expect(textWidth(part)).toBeLessThanOrEqual(width);
    }),
  );
});
