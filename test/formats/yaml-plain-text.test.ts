import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {plainEntryText, plainItemText} from '../../src/formats/yaml/yaml-plain-text.ts';
import {indentLines, yamlText} from '../../src/formats/yaml/yaml-text.ts';
import {anyText, part, runs} from '../arbitrary.ts';

const pieces = [
  ...[
    'a',
    'word',
    'é',
    '😀',
    ' ',
    '  ',
    '\n',
    '\n\n',
    '\n  ',
    '\t',
    '\r',
    '\u00a0',
    '\u200d',
    '\u202e',
    '\ufeff',
    '\x7f',
  ],
  ...[
    "'",
    '"',
    '\\',
    '\\n',
    ':',
    ': ',
    '#',
    ' #',
    '-',
    '- ',
    '?',
    '? ',
    '|',
    '>',
    '&',
    '*',
    '!',
    '%',
    '@',
    '`',
    '---',
    '...',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    '<<',
    '=',
    '~',
    '.',
    '+',
    '_',
    '/',
    '(',
    '0',
    '7',
    '12',
    '0x',
    '0b',
    '0o',
    'e',
    'E',
    'x',
  ],
  ...[
    'y',
    'N',
    'yes',
    'Off',
    'null',
    'True',
    '.inf',
    '.NaN',
    '2025-10-04',
    'T10:05:45',
    '.000Z',
    '12:30',
    '1_000',
    'e5',
  ],
];
const odd = fc.array(fc.constantFrom(...pieces), {maxLength: 5}).map(parts => parts.join(''));
const usual = fc.constantFrom(
  'It is up.',
  '{"success": true, "text": "it\'s"}',
  'two\n\nlines\n',
  'no end\n  deeper',
  '2025-10-04T10:05:45.000Z',
  'call_1',
  "it's: so",
  '3f2a-9',
);
const text = fc.oneof({weight: 8, arbitrary: usual}, {weight: 4, arbitrary: odd}, {weight: 1, arbitrary: anyText});
const leaf = fc.oneof(
  {weight: 20, arbitrary: text},
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(null, true, false, undefined, 0, -0, -1, 7, 0.25, 1e21, 1e-7, Infinity),
  },
  {weight: 1, arbitrary: fc.double()},
  {weight: 1, arbitrary: fc.constantFrom<unknown>([], {}, new Date(0), [1], ['a'], [[]], {a: undefined})},
);
const call = fc.record(
  {
    id: text,
    type: fc.constant('function'),
    function: fc.record({name: text, arguments: text}),
    approval: text,
    started: usual,
    run: text,
  },
  {requiredKeys: []},
);
const message = fc.record(
  {
    timestamp: usual,
    role: fc.constantFrom('user', 'assistant', 'tool_result'),
    from: text,
    content: leaf,
    usage: fc.record({input_tokens: fc.nat(), cost_usd: fc.double({min: 0, max: 10, noNaN: true})}, {requiredKeys: []}),
    tool_calls: fc.array(call, {maxLength: 3}),
    tool_call_id: text,
    untrusted: fc.boolean(),
  },
  {requiredKeys: []},
);

describe('plain YAML written without the library', () => {
  it('is what yamlText writes, byte for byte, or nothing', () => {
    let written = 0;
    fc.assert(
      fc.property(message, fc.constantFrom('', '  ', '   '), (value, indent) => {
        const quick = plainItemText(value, indent);
        if (quick === undefined) return;
        written++;
        expect(quick).toBe(indentLines(yamlText([value]), indent, '\n'));
      }),
      runs(8_000),
    );
    expect(written).toBeGreaterThan(part(800));
  });

  it('writes one key as yamlText does, whatever key and value are, or nothing', () => {
    let written = 0;
    fc.assert(
      fc.property(fc.oneof(odd, fc.constantFrom('status', 'error')), leaf, (key, value) => {
        const quick = plainEntryText(key, value, '');
        if (quick === undefined) return;
        written++;
        expect(quick).toBe(yamlText({[key]: value}));
      }),
      runs(8_000),
    );
    expect(written).toBeGreaterThan(part(800));
  });

  it('writes what a turn writes', () => {
    for (const value of [
      {timestamp: '2025-10-04T10:05:45.000Z', role: 'user', from: 'human', content: 'Is it "up"? It\'s: late'},
      {
        role: 'assistant',
        content: null,
        model: 'default',
        usage: {input_tokens: 12, cost_usd: 0.25},
        tool_calls: [{id: '3f2a-9', type: 'function', function: {name: 'x', arguments: '{"a": 1}'}}],
      },
      {role: 'tool_result', tool_call_id: 'call_1', content: '{"ok":true}', untrusted: true},
      {role: 'assistant', content: 'One.\n\n  - two\n# three\n', tool_calls: []},
    ])
      expect(plainItemText(value, '')).toBe(yamlText([value]));
  });
});
