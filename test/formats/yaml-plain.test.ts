import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {cutText, newSession} from '../../src/formats/session/session.ts';
import {readPlainYaml} from '../../src/formats/yaml/yaml-plain.ts';
import {readQuickly} from '../../src/formats/yaml/yaml-quick.ts';
import {type Path, placeOfValue, readYaml} from '../../src/formats/yaml/yaml-source.ts';
import {yamlText} from '../../src/formats/yaml/yaml-text.ts';
import {anyText, linesOf, runs, yamlLines} from '../arbitrary.ts';

/** Either exactly what the full reader gives, in the same order of keys, or nothing. Whether it gave something. */
function agrees(text: string): boolean {
  const plain = readPlainYaml(text);
  if (!plain) return false;
  const {value, problems, linked} = readYaml(text);
  expect(problems, JSON.stringify(text)).toEqual([]);
  expect(linked).toBe(false);
  expect(plain.value).toStrictEqual(value);
  expect(JSON.stringify(plain.value)).toBe(JSON.stringify(value));
  placesAgree(text);
  return true;
}

/** Every part, and what is not there, is found where the full reader finds it. */
function placesAgree(text: string): void {
  const [quick, whole] = [readQuickly(text), readYaml(text)];
  const visit = (value: unknown, path: Path): void => {
    for (const what of ['value', 'key'] as const)
      expect(placeOfValue(quick, path, undefined, what), JSON.stringify({text, path, what})).toEqual(
        placeOfValue(whole, path, undefined, what),
      );
    if (value === null || typeof value !== 'object') return;
    for (const [key, item] of Object.entries(value)) visit(item, [...path, Array.isArray(value) ? Number(key) : key]);
  };
  visit(whole.value, []);
  visit(null, ['nowhere', 0]);
}

/** Pieces of YAML, and of what looks like it. */
const pieces = [
  ...[' ', '  ', '\n', '\n  ', '\n    ', '\n- ', '\n  - ', '\t', '\r', '\u0085', '\u00a0', '\u2028', '\ufeff'],
  ...['a', 'b', 'é', '😀', '\ud800', '\x00', '\x7f', '- ', '-', '#', ' #', ': ', ':', '?', '? ', '=', '/', '('],
  ...[
    '|',
    '|-',
    '|+',
    '|2',
    '>',
    '>-',
    '"',
    "'",
    "''",
    '\\',
    '\\n',
    '\\u00e9',
    '\\ud83d',
    '\\x41',
    '---\n',
    '...',
    '%',
  ],
  ...['{', '}', '[', ']', ',', ', ', '&a', '*a', '!', '@', '`', '<<', '<<: ', 'key: ', 'b:', '__proto__: '],
  ...['null', 'Null', '~', 'true', 'True', 'yes', 'off', '.inf', '.nan', '1', '0', '07', '0x1f', '0o17', '1e3'],
  ...['1.5', '1.50', '.5', '1.', '1_000', '+1', '-1', '12:30', '2025-10-04', '9007199254740993', '123456789012345678'],
];
const odd = fc.array(fc.constantFrom(...pieces), {minLength: 1, maxLength: 12}).map(parts => parts.join(''));

const scalars = [
  ...[
    'abc',
    'a b',
    'a:b',
    'http://x/y',
    '12 things',
    "'it''s'",
    "''",
    '""',
    '"a\\nb\\"\\u00e9"',
    '{}',
    '[]',
    '{a: 1, b: c}',
  ],
  ...[
    '{name: x, arguments: \'{"p": 1, "q": 2}\'}',
    '[a, 3, "x, y"]',
    '[ a , b ]',
    '{ a: 1 }',
    '{a: b: c}',
    '[a,]',
    '{a:1}',
  ],
  ...[
    '|',
    '|-',
    '|+',
    '|2',
    '>',
    '&a x',
    '*a',
    '!t x',
    '# c',
    'x # c',
    'x#c',
    'a: b',
    '"x',
    "'x",
    'x  ',
    '[a, {b: c}]',
  ],
];
const keys = ['a', 'b', 'a-b', '_x', 'x1', 'true', 'Null', '<<', '__proto__', 'toString', '1', '"q"', 'a b', 'é'];
const indented = fc
  .tuple(
    fc.constantFrom(0, 0, 2, 2, 4, 4, 6, 1, 3),
    fc.constantFrom('', '- ', '-   ', '- - ', '# '),
    fc.option(fc.constantFrom(...keys), {nil: undefined}),
    fc.oneof(fc.constantFrom('', ...scalars), odd),
    fc.constantFrom('\n', '\n', '\n', ' \n', '\n\n', '\r\n'),
  )
  .map(
    ([indent, dash, key, value, end]) =>
      `${' '.repeat(indent)}${dash}${key === undefined ? '' : `${key}: `}${value}${end}`,
  );
const blocks = fc.array(indented, {minLength: 1, maxLength: 8}).map(lines => lines.join(''));

const textsIn = (folder: string) =>
  readdirSync(folder, {recursive: true, encoding: 'utf8'})
    .filter(name => name.endsWith('.session.yaml'))
    .map(name => readFileSync(join(folder, name), 'utf8'));
const own = newSession(
  {agent_id: 'planner-001', created: '2025-10-04T10:05:00.000Z', system_prompt: 'Plan.\n\nThen do.\n'},
  [
    {timestamp: '2025-10-04T10:05:00.000Z', role: 'user', from: 'human', content: 'Is it "up"? It\'s: late'},
    {role: 'assistant', content: null, tool_calls: [{id: 'c', function: {name: 'x', arguments: '{"a": 1}'}}]},
    {role: 'tool_result', tool_call_id: 'c', content: 'a\n  b: c\n', usage: {input_tokens: 1, cost_usd: 0.25}},
  ],
  '../schemas/session.json',
);
const cut = cutText(own);
const parts = [cut?.head ?? '', ...(cut?.items ?? [])];
const sessions = [own, ...parts, ...textsIn('test/fixtures/session')];

/** A text of ours with a few things done to it. */
const mutated = fc
  .tuple(
    fc.constantFrom(...sessions),
    fc.array(fc.tuple(fc.nat(), fc.nat(5), fc.oneof(fc.constant(''), odd, fc.constantFrom(' ', '  ', '\n'))), {
      maxLength: 4,
    }),
  )
  .map(([text, edits]) =>
    edits.reduce((now, [at, drop, put]) => {
      const from = at % (now.length + 1);
      return now.slice(0, from) + put + now.slice(from + drop);
    }, text),
  );

describe('the fast reader of plain YAML', () => {
  it.each([
    ['any text', fc.tuple(fc.constantFrom('', 'k: ', '- '), anyText).map(([head, text]) => `${head}${text}\n`)],
    ['lines that look like ours', linesOf(yamlLines)],
    ['pieces of YAML', odd.map(text => `${text}\n`)],
    [
      'a value',
      fc
        .tuple(fc.constantFrom('k: ', '- ', 'k: {a: ', 'k: ['), odd, fc.constantFrom('\n', '}\n', ']\n'))
        .map(parts => parts.join('')),
    ],
    [
      'a literal block',
      fc
        .tuple(fc.constantFrom('|', '|-', '|+'), odd, fc.constantFrom('', 'b: 1\n', '# c\n', '\n\n'))
        .map(([head, text, tail]) => `k: ${head}\n  x${text}\n${tail}`),
    ],
    [
      'a folded block',
      fc
        .tuple(fc.constantFrom('', '  ', '\n'), odd, odd, fc.constantFrom('', 'b: 1\n', '# c\n', '\n\n', '\n\nb: 1\n'))
        .map(([gap, one, two, tail]) => `k: >-\n  x${one}\n${gap}  y${two}\n${tail}`),
    ],
    ['blocks at any indentation', blocks],
    ['sessions with edits', mutated],
  ] as const)('gives what the full reader gives, or nothing: %s', (_, texts) => {
    fc.assert(
      fc.property(texts, text => {
        agrees(text);
      }),
      runs(3_000),
    );
  });

  it.each(['allowlist.yaml', 'playbooks/first-run.playbook.yaml', 'templates/planner-001.agent.yaml'])(
    'reads %s of a new home',
    file => {
      expect(agrees(readFileSync(file, 'utf8'))).toBe(true);
    },
  );

  it('reads a folded paragraph', () => {
    expect(agrees('a: >-\n  one\n  two: three # four\n\nb: 1\n')).toBe(true);
    expect(agrees('a: >-\n  one\n   two\n')).toBe(false);
  });

  it('reads what the daemon writes', () => {
    const value = fc.letrec<{any: unknown}>(tie => ({
      any: fc.oneof(
        {depthSize: 'small'},
        fc.stringMatching(/^[A-Za-z][a-z ,.]{0,30}[a-z]$/),
        fc.stringMatching(/^([A-Za-z]{1,9} ?){1,4}\n( {2}[a-z]{1,9}\n|\n){0,3}[a-z]+\n$/),
        fc.nat(),
        fc.boolean(),
        fc.array(tie('any'), {maxLength: 3, minLength: 1}).filter(list => !Array.isArray(list[0])),
        fc.dictionary(fc.stringMatching(/^[a-z]{2,8}_id$/), tie('any'), {minKeys: 1, maxKeys: 3}),
      ),
    })).any;
    let read = 0;
    fc.assert(
      fc.property(value, item => {
        if (agrees(yamlText({item}))) read++;
      }),
      {numRuns: 1_000},
    );
    expect(read).toBeGreaterThan(900);
  });

  it('reads all parts of a session as the daemon writes it', () => {
    expect(parts.map(agrees)).toEqual([true, true, true, true]);
  });
});
