import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {requiredTexts} from '../../src/effects/tool/required-text.ts';
import {lineSearch, searchText} from '../../src/effects/tool/search-lines.ts';
import {makeLineFinder} from '../../src/effects/tools/line-finder.ts';
import {makeRedactor} from '../../src/policy/redact/redact.ts';
import {runs} from '../arbitrary.ts';
import {toolHome} from './tool-home.ts';

const redact = makeRedactor([]);

/** What is said of a pattern that is none. */
const wrong = (pattern: string) => {
  const search = lineSearch(pattern, false, 0);
  return typeof search === 'string' ? search : `taken as ${search.pattern}`;
};
const taken = (pattern: string) => {
  const search = lineSearch(pattern, false, 0);
  return typeof search === 'string' ? search : String(search.pattern);
};

describe('patterns', () => {
  it.each([
    ['(?i)abc', '/abc/im'],
    ['(?P<a>x)(?P=a)', '/(?<a>x)\\k<a>/m'],
    ['[[:alpha:]_]\\h*', '/[A-Za-z_][ \\t]*/m'],
    ['\\Qa.b(\\E+', '/a\\.b\\(+/m'],
    ['a++b*+', '/a+b*/m'],
    ['\\Aa\\z', '/^a$/m'],
    ['\\x{41}', '/\\u0041/m'],
    ['\\pL\\-\\"{', '/\\p{L}-"\\{/mu'],
    ['[^\\n]+', '/[^\\n]+/m'],
    ['{a}', '/{a}/m'],
    ['\\<foo\\>[\\<]', '/\\bfoo\\b[\\<]/m'],
    ['[🚀]', '/[🚀]/mu'],
    ['\\x{1f680}+', '/\\ud83d\\ude80+/mu'],
    ['\\bx\\d{2,3}?', '/\\bx\\d{2,3}?/m'],
  ])('of other dialects are taken: %s', (pattern, expected) => {
    expect(taken(pattern)).toBe(expected);
  });

  it.each([
    ['f(x', 'Unterminated group; the pattern that finds this text as it stands is f\\(x'],
    ['a)', "Unmatched ')'; the pattern that finds this text as it stands is a\\)"],
    ['*.ts', 'Nothing to repeat; the pattern that finds this text as it stands is \\*\\.ts'],
    ['x[0', 'a [ has no ]'],
    ['a\\', 'it ends with a single \\'],
    ['a\\nb', 'matches are within one line'],
    ['a\nb', 'matches are within one line'],
    ['\\Kab', 'write what stands before as (?<=…)'],
    ['C:\\yes', '\\y is not known'],
    ['(?>a)', 'write (?:…) instead'],
    ['a(?i:b)', 'ignore_case is for all of it'],
    ['(?x)a b', 'the flag (?x) is not known'],
    ['a?+', 'write ? without the +'],
    ['[[:word1:]]', '[:word1:] is not known; there are alpha,'],
    ['\\p{Klingon}', '\\p{Klingon} is not known'],
    ['(?R)', 'is not known'],
    ['[z-a]', 'Range out of order'],
    ['[a-z&&[^x]]', '&& in a class is not known'],
  ])('that are none say what to write: %s', (pattern, expected) => {
    expect(wrong(pattern)).toContain(expected);
  });

  it('tell of a broken one in the result', async () => {
    const {run} = toolHome();
    expect(await run('grep', {pattern: 'foo('})).toEqual({
      success: false,
      code: 'INVALID_ARGUMENTS',
      error: '"pattern": Unterminated group; the pattern that finds this text as it stands is foo\\(',
    });
  });
});

const atom = fc.constantFrom(
  'a',
  'b',
  'cd',
  'Ab',
  '.',
  '\\.',
  '\\d',
  '\\w',
  '[ab]',
  '[^a]',
  '(a|b)',
  '(?:ab)',
  '(?=a)',
  '^',
  '$',
  '\\b',
  '1',
  'ä',
  '€',
  '\ufffd',
  '{',
  '😀',
  '\\(',
  ' ',
);
const suffix = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,2}', '{1,}', '+?', '*?');
const branch = fc
  .array(fc.tuple(atom, suffix), {minLength: 1, maxLength: 5})
  .map(parts => parts.map(([a, s]) => a + s).join(''));
const anyPattern = fc.array(branch, {minLength: 1, maxLength: 2}).map(branches => branches.join('|'));
const line = fc
  .array(fc.constantFrom('a', 'b', 'c', 'd', 'A', '1', '.', '(', ' ', 'ä', '€', '😀', '{', '\r'), {maxLength: 10})
  .map(chars => chars.join(''));

describe('what is looked for first', () => {
  it('is in every line that matches', () => {
    let found = 0;
    fc.assert(
      fc.property(anyPattern, fc.array(line, {minLength: 5, maxLength: 20}), (source, lines) => {
        const search = lineSearch(source, false, 0);
        fc.pre(typeof search !== 'string');
        for (const text of lines) {
          const {literals} = search;
          if (!literals || !(search.pattern.test(text) || search.wide.test(text))) continue;
          found++;
          expect(
            literals.some(each => Buffer.from(text).includes(each)),
            `${source} ${text} ${literals}`,
          ).toBe(true);
        }
      }),
      runs(3000),
    );
    expect(found).toBeGreaterThan(100);
  });

  it('finds what a search line by line finds', () => {
    fc.assert(
      fc.property(anyPattern, fc.array(line, {maxLength: 12}), fc.boolean(), (source, lines, ignoreCase) => {
        const search = lineSearch(source, ignoreCase, 0);
        fc.pre(typeof search !== 'string');
        const text = lines.map(each => `${each}\n`).join('');
        const candidate = !search.literals?.every(each => !Buffer.from(text).includes(each));
        const ours = candidate
          ? searchText(search, {path: 'f', text, firstLine: 1}, {matches: 99, bytes: 9999}, makeRedactor([])).lines
          : [];
        const bare = lines.map(each => each.replace(/\r$/, ''));
        const pattern = text.includes('😀') ? search.wide : search.pattern;
        const expected = bare.flatMap((each, i) => (pattern.test(each) ? [`f:${i + 1}:${each}`] : []));
        expect(ours).toEqual(expected);
      }),
      runs(1500),
    );
  });

  it('shows the same lines whatever the pieces of a file are', async () => {
    const text = fc.constantFrom('x', 'y', 'xy', '', 'é');
    const pieces = fc.array(fc.array(text, {minLength: 1, maxLength: 5}), {minLength: 1, maxLength: 8});
    await fc.assert(
      fc.asyncProperty(pieces, fc.nat(3), fc.constantFrom('x', '(?=x)', 'y$'), async (made, context, source) => {
        const search = lineSearch(source, false, context);
        if (typeof search === 'string') throw new Error(search);
        const texts = made.map(lines => lines.map(each => `${each}\n`).join(''));
        const found = makeLineFinder(search, 99, new AbortController().signal, redact);
        await found.addPieces(
          texts.map(each => Buffer.from(each)),
          'f',
        );
        const text = texts.join('');
        const whole = searchText(search, {path: 'f', text, firstLine: 1}, {matches: 99, bytes: 9999}, redact);
        expect(await found.end()).toMatchObject({content: whole.lines.join('\n'), matches: whole.count});
      }),
      runs(300),
    );
  });

  it('begins with a byte that is rare', () => {
    const texts = (source: string) => requiredTexts(source)?.map(String);
    expect(texts('function \\w+Request\\(')).toEqual(['Request(']);
    expect(texts('const x?yz')).toEqual(['const ']);
    expect(texts('getOne\\(|set[A-Z|]Two')).toEqual(['One(', 'Two']);
    expect(texts('a|b|c|d|e')).toBeUndefined();
    expect(texts('abc|\\x41bc')).toBeUndefined();
    expect(texts('abc|')).toBeUndefined();
    expect(texts('(abc)?[abc]')).toBeUndefined();
  });
});

describe('grep', () => {
  const make = (files: Record<string, string | Buffer>) => {
    const home = toolHome();
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(home.workspace, path)), {recursive: true});
      writeFileSync(join(home.workspace, path), content);
    }
    return home;
  };

  it('leaves out hidden files, unless they are named', async () => {
    const {run} = make({'.env': 'x', '.github/w.yml': 'x', 'a/.b/c': 'x', '.gitignore': '!.keep\n', '.keep': 'x'});
    expect(await run('grep', {pattern: 'x'})).toMatchObject({content: '.keep:1:x'});
    expect(await run('grep', {pattern: 'nothing'})).toMatchObject({
      note: '4 hidden ones were left out; name one as path to look in it',
    });
    expect(await run('grep', {pattern: 'x', path: '.github'})).toMatchObject({files: 1});
    expect(await run('grep', {pattern: 'x', path: '.env'})).toMatchObject({files: 1});
    expect(await run('grep', {pattern: 'x', glob: '.env'})).toMatchObject({content: '.env:1:x'});
    expect(await run('grep', {pattern: 'x', glob: '.github/**'})).toMatchObject({files: 1});
  });

  it('says so if a glob matches nothing', async () => {
    const {run} = make({'a.ts': 'x'});
    expect(await run('grep', {pattern: 'x', glob: '*.ts,*.js'})).toMatchObject({
      matches: 0,
      note: 'no file matches the glob *.ts,*.js; several are written in braces, as in *.{ts,js}',
    });
    expect(await run('grep', {pattern: 'y', glob: '*.ts'})).not.toHaveProperty('note');
  });

  it('finds lines of large files, whatever their pieces are', async () => {
    const row = (i: number) => `${i} ${'é'.repeat(i % 90)}${i % 1000 === 0 ? 'needle' : ''}\n`;
    const text = Array.from({length: 9000}, (_, i) => row(i + 1)).join('');
    const wide = `${'w'.repeat(900_000)}needle`;
    const {run} = make({'large.txt': text, 'large.bin': `\0${text}`, 'wide.txt': `a\n${wide}\nneedle 3`});
    const result = (await run('grep', {pattern: 'needle'})) as unknown as {content: string; skipped: string};
    const numbers = result.content.split('\n').map(each => each.split(':').slice(0, 2).join(':'));
    expect(numbers).toEqual([
      ...Array.from({length: 9}, (_, i) => `large.txt:${i + 1}000`),
      'wide.txt:2',
      'wide.txt:3',
    ]);
    expect(result.skipped).toBe('1 binary file that may match');
    expect(Buffer.byteLength(text)).toBeGreaterThan(512 * 1024);
  });

  it('finds what is in other encodings, and characters of two units', async () => {
    const wide = Buffer.from(`\ufeffzwölf\n${'line\n'.repeat(20_000)}zwei\n`, 'utf16le');
    const {run} = make({
      'le.txt': Buffer.from('\ufeffzwölf\nzwei\n', 'utf16le'),
      'be.txt': Buffer.from('\ufeffzwölf\nzwei\n', 'utf16le').swap16(),
      'large.txt': wide,
      'mark.txt': '\ufeffmark\n',
      'astral.txt': 'a😀b\n🚀\n',
      'crlf.txt': 'end\r\n',
    });
    const content = async (pattern: string) => (await run('grep', {pattern})) as unknown as {content: string};
    expect(await content('^zwei$')).toMatchObject({content: 'be.txt:2:zwei\nlarge.txt:20002:zwei\nle.txt:2:zwei'});
    expect(await content('^mark')).toMatchObject({content: 'mark.txt:1:mark'});
    expect(await content('[🚀]')).toMatchObject({content: 'astral.txt:2:🚀'});
    expect(await content('^.$')).toMatchObject({content: 'astral.txt:2:🚀'});
    expect(await content('a.b')).toMatchObject({content: 'astral.txt:1:a😀b'});
    expect(await content('d\\r$')).toMatchObject({content: 'crlf.txt:1:end'});
    expect(await content('\\x0d')).toMatchObject({content: 'crlf.txt:1:end'});
    expect(await content('\\<end\\>')).toMatchObject({content: 'crlf.txt:1:end'});
  });

  it('tells of what it takes otherwise than it may be meant', async () => {
    const {run} = make({'a.txt': 'foo\nbar\n'});
    expect(await run('grep', {pattern: 'foo\\|bar'})).toMatchObject({
      matches: 0,
      note: '\\| finds the character |; to find one or the other, write | without \\',
    });
    expect(await run('grep', {pattern: 'foo', context: 21, limit: 2001})).toMatchObject({
      matches: 1,
      note: 'context is 20 at most, and was taken as that; limit is 2000 at most, and was taken as that',
    });
    expect(await run('grep', {pattern: 'foo', context: 20, limit: 2000})).not.toHaveProperty('note');
    const long = await run('grep', {pattern: `(${'a'.repeat(4000)}`});
    expect(long).toEqual({success: false, code: 'INVALID_ARGUMENTS', error: '"pattern": Unterminated group'});
    const refused = (why: string) => ({code: 'INVALID_ARGUMENTS', error: expect.stringContaining(why)});
    expect(await run('grep', {pattern: 'a'.repeat(5000)})).toMatchObject(refused('5000 characters, more than 4096'));
    expect(await run('grep', {pattern: '\\p{L}'.repeat(60)})).toMatchObject(refused('more than 50'));
    expect(await run('grep', {pattern: `😀${'.'.repeat(4000)}`})).toMatchObject(refused('more than 1000'));
  });
});
