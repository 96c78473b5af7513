import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {quickHeader, quickMessage} from '../../src/formats/session/session-quick.ts';
import {headerSchema, messageSchema} from '../../src/formats/session/session-schema.ts';
import {validateValue} from '../../src/formats/yaml/validate.ts';
import {part, runs} from '../arbitrary.ts';

const words = [
  '',
  'user',
  'assistant',
  'tool_result',
  'system',
  'active',
  'paused',
  'function',
  'a-1',
  'a b',
  '.x',
  '{}',
];
const times = [
  '2025-10-04T10:05:23.000Z',
  '2025-02-30T10:05:23.000Z',
  '2025-10-04',
  '2025-13-04T10:05:23.000Z',
  'soon',
];
const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    ...words,
    ...times,
    null,
    undefined,
    true,
    false,
    0,
    -0,
    1,
    -1,
    1.5,
    2 ** 53,
    Number.NaN,
    Infinity,
  ),
  fc.constant({}),
  fc.constant([]),
  fc.constant(['a']),
  fc.constant(['a', 1]),
);
/** Objects with these keys, most of them of the right form, in any order, some missing, some unknown. */
function shaped(forms: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> {
  const entry = fc
    .constantFrom(...Object.keys(forms))
    .chain(key =>
      fc.tuple(fc.constant(key), fc.oneof({weight: 12, arbitrary: forms[key] ?? leaf}, {weight: 1, arbitrary: leaf})),
    );
  const unknown = fc.tuple(fc.constantFrom('note', 'roll', 'toString', 'statuss'), leaf);
  return fc
    .array(fc.oneof({weight: 40, arbitrary: entry}, {weight: 1, arbitrary: unknown}), {maxLength: 9})
    .map(entries => Object.fromEntries(entries));
}

const text = fc.constantFrom(...words, ...times);
const time = fc.constantFrom(times[0], times[2]);
const calls = shaped({
  id: text,
  type: fc.constant('function'),
  function: shaped({name: text, arguments: text}),
  approval: text,
  started: time,
}).map(call => ({id: 'call-1', function: {name: 'read_file', arguments: '{}'}, ...call}));
const message = shaped({
  timestamp: time,
  role: fc.constantFrom('user', 'assistant', 'tool_result', 'system'),
  from: text,
  content: fc.oneof(text, fc.constant(null)),
  model: text,
  usage: shaped({input_tokens: fc.nat(), output_tokens: fc.nat(), cost_usd: fc.double({min: 0, noNaN: true})}),
  tool_calls: fc.array(calls, {maxLength: 2}),
  tool_call_id: text,
  delivery: text,
  untrusted: fc.boolean(),
});
const header = shaped({
  session_id: fc.constantFrom('a-1', 'x'),
  agent_id: text,
  agent_type: text,
  model: text,
  system_prompt: text,
  created: time,
  updated: time,
  status: fc.constantFrom('active', 'waiting', 'sleeping', 'paused', 'completed', 'error'),
  waiting_for: text,
  shared: fc.boolean(),
  segments: fc.array(text, {maxLength: 2}),
  metadata: fc.constantFrom({}, null, {a: 1}),
});

describe('quick checks of sessions', () => {
  it.each([
    ['messages', message, quickMessage, messageSchema],
    ['headers', header, quickHeader, headerSchema],
  ] as const)('make of %s what the schema makes of them, or nothing', (_, values, quick, schema) => {
    let made = 0;
    fc.assert(
      fc.property(
        fc.oneof(
          values,
          values.map(value => ({role: 'user', content: 'x', ...value})),
          values.map(value => ({agent_id: 'a', ...value})),
          leaf,
        ),
        value => {
          const found = quick(value);
          if (found === undefined) return;
          made++;
          const full = validateValue(schema, value, () => ({line: 1, column: 1}), '');
          expect(full.problems).toEqual([]);
          expect(found).toStrictEqual(full.value);
          // In the same order, too.
          expect(JSON.stringify(found)).toBe(JSON.stringify(full.value));
        },
      ),
      runs(10_000),
    );
    expect(made).toBeGreaterThan(part(200));
  });
});
