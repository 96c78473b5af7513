import fc from 'fast-check';
import {expect, it} from 'vitest';
import {Events} from '../../src/effects/model/events.ts';

it('gives the same events however their bytes are cut', () => {
  const datum = fc.string({unit: 'grapheme', maxLength: 20}).map(text => JSON.stringify({text}));
  const ends = fc.constantFrom('\n', '\r\n', '\r');
  fc.assert(
    fc.property(fc.array(datum, {minLength: 1}), ends, fc.array(fc.nat(9)), fc.boolean(), (data, end, cuts, closed) => {
      const text =
        data.map(json => `: sign of life${end}event: x${end}data: ${json}${end}`).join(end) + (closed ? end : '');
      const bytes = new TextEncoder().encode(text);
      const events = new Events();
      const found: string[] = [];
      let at = 0;
      for (const cut of cuts) {
        found.push(...events.read(bytes.subarray(at, at + cut)));
        at += cut;
      }
      found.push(...events.read(bytes.subarray(at)), ...events.read(undefined));
      expect(found.map(event => event.trim())).toEqual(data);
      expect(events.foreign).toBeUndefined();
    }),
  );
});

it('keeps what is no event as it is', () => {
  fc.assert(
    fc.property(fc.constantFrom('{"a": 1}', '<html>\r\n<p>data: x</p>', 'dat', '[1]'), fc.nat(8), (text, cut) => {
      const bytes = new TextEncoder().encode(text);
      const events = new Events();
      for (const part of [bytes.subarray(0, cut), bytes.subarray(cut), undefined])
        expect(events.read(part)).toEqual([]);
      expect(events.foreign).toBe(text);
    }),
  );
});
