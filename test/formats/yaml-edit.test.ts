import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {UserError} from '../../src/formats/common/errors.ts';
import {editYaml} from '../../src/formats/yaml/yaml-edit.ts';
import {type Path, readYaml} from '../../src/formats/yaml/yaml-source.ts';
import {indentLines, yamlText} from '../../src/formats/yaml/yaml-text.ts';
import {anyText, linesOf, runs} from '../arbitrary.ts';
import {changedLines} from '../line-diff.ts';

const text = fc.oneof(
  anyText,
  fc
    .array(
      fc.constantFrom(
        ' ',
        '\t',
        '\n',
        'a',
        '- ',
        '#',
        ': ',
        '|',
        '"',
        "'",
        '\r',
        '\u2028',
        '\ufeff',
        '---\n',
        '...',
        '{',
        '[',
        '&',
        '*',
        '!',
        '%',
        '@',
        '`',
        '<<',
        'null',
        '1',
        'é',
        '😀',
      ),
      {maxLength: 12},
    )
    .map(parts => parts.join('')),
);
const plain = text.map(value => Buffer.from(value).toString());
const value = fc.letrec(tie => ({
  value: fc.oneof(
    {maxDepth: 3},
    plain,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), {maxLength: 3}),
    fc.dictionary(plain, tie('value'), {maxKeys: 3}),
  ),
})).value;

describe('new YAML text', () => {
  it('reads back as exactly the value, at any indentation and with either line end', () => {
    fc.assert(
      fc.property(
        fc.record({a: value, b: plain}),
        fc.constantFrom('', '  ', '      '),
        fc.constantFrom('\n', '\r\n'),
        (item, indent, eol) => {
          const read = readYaml(`list:${eol}${indentLines(yamlText([item]), indent, eol)}`);
          expect(read.problems).toEqual([]);
          expect(read.value).toEqual({list: [item]});
        },
      ),
      runs(2000),
    );
  });
});

const docs = linesOf(
  [
    'a: 1',
    'b: two # note',
    'c:',
    '  d: x',
    '  e: [1, 2]',
    '  - item',
    '  - id: 1',
    '    f: "q"',
    'g: |',
    '  text',
    '',
    '# comment',
    '  # inner',
    "h: 'single'",
    'i: {j: 1, k: {l: 2}}',
    'm: []',
    'n: ~',
    'o:',
    '- bare',
    '---',
    'p: >-',
    '  folded',
    'q: &x 1',
    'r: *x',
  ],
  10,
)
  .map(source => readYaml(source))
  .filter(
    source =>
      source.problems.length === 0 &&
      !source.text.startsWith('\ufeff ') &&
      typeof source.value === 'object' &&
      source.value !== null &&
      !Array.isArray(source.value),
  );

function paths(at: unknown, path: Path = []): Path[] {
  const own = path.length > 0 ? [path] : [];
  if (at === null || typeof at !== 'object') return own;
  const entries = Array.isArray(at) ? at.map((item, i) => [i, item] as const) : Object.entries(at);
  return [...own, ...entries.flatMap(([key, item]) => paths(item, [...path, key]))];
}

describe('editYaml, on arbitrary documents', () => {
  it('either does exactly what was asked or refuses', () => {
    fc.assert(
      fc.property(docs, fc.nat(), value, fc.constantFrom('set', 'new', 'append', 'remove'), (source, n, to, what) => {
        const known = paths(source.value);
        const path = what === 'new' || known.length === 0 ? ['fresh'] : (known[n % known.length] as Path);
        const edit =
          what === 'append' ? {append: path, item: to} : what === 'remove' ? {remove: path} : {set: path, to};
        let edited: string;
        try {
          edited = editYaml(source.text, edit);
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
          return;
        }
        const after = readYaml(edited);
        expect(after.problems).toEqual([]);
        if (what === 'set' || what === 'new')
          expect(path.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], after.value)).toEqual(to);
        // Comments of lines that were not touched are still there.
        const {from, to: last} = changedLines(source.text, edited);
        const kept = source.text.split('\n').filter((_, i) => i + 1 < from || i + 1 > last);
        for (const line of kept) expect(edited).toContain(line);
      }),
      runs(2500),
    );
  });

  it('refuses almost never', () => {
    const samples = fc.sample(docs, 300);
    const refused = samples.filter(source => {
      try {
        editYaml(source.text, {set: ['fresh'], to: 'x'});
        return false;
      } catch {
        return true;
      }
    });
    expect(refused.map(source => source.text)).toEqual([]);
  });
});

describe('reading', () => {
  it('resolves anchors and merge keys, and counts what aliases expand to', () => {
    expect(readYaml('a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n').value).toEqual({a: {b: 1}, c: {b: 1, d: 2}});
    const bomb = `a0: &a0 [x, x]\n${Array.from({length: 40}, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]\n`).join('')}`;
    expect(readYaml(bomb).problems[0]?.code).toBe('YAML_TOO_DEEP');
  });

  it('takes no key for more than text', () => {
    const {value: read} = readYaml('__proto__: {polluted: true}\nconstructor: 1\n');
    expect(Object.keys(read as object)).toEqual(['__proto__', 'constructor']);
    expect(({} as {polluted?: boolean}).polluted).toBeUndefined();
  });
});
