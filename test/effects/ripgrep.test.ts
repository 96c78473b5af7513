import {spawnSync} from 'node:child_process';
import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {runs} from '../arbitrary.ts';
import {type ToolHome, toolHome} from './tool-home.ts';

const ripgrep = spawnSync('rg', ['--version']).status === 0;
const title = ripgrep ? 'as ripgrep does' : 'as ripgrep does (SKIPPED: rg is not installed)';

function rg(cwd: string, args: readonly string[]): string[] {
  const options = ['--no-config', '--no-require-git', '--no-ignore-global', '--no-messages', '--sort', 'path'];
  const {stdout} = spawnSync('rg', [...options, ...args, './'], {cwd, encoding: 'utf8'});
  return stdout
    .split('\n')
    .slice(0, -1)
    .map(line => line.replace(/^\.\//, ''));
}

const name = fc.constantFrom('a', 'b', 'ab', 'a.js', 'b.log', '.a', '.b.log', 'a b', 'x!');
const path = fc.array(name, {minLength: 1, maxLength: 4});
const piece = fc.constantFrom(
  'a',
  'b',
  '*',
  '?',
  '.js',
  '.log',
  '/',
  '**/',
  '/**',
  '[ab]',
  '[!a]',
  '\\',
  '.',
  ' ',
  '#',
  '!',
);
const rule = fc.tuple(
  fc.constantFrom('', '', '', '!', '/', '!/', '\\'),
  fc.array(piece, {minLength: 1, maxLength: 4}),
  fc.constantFrom('', '', '/', ' ', '/*'),
);
const ignoreFile = fc
  .array(rule, {minLength: 1, maxLength: 4})
  .map(rules => rules.map(([sign, body, end]) => `${sign}${body.join('')}${end}`));

/** What gitignore(5) leaves open, or git and ripgrep read differently; nor are there braces, which are plain in git. */
const unclear = /\*\*\*|[^/]\*\*|\*\*[^/]|\\$|\\ |\/\/|\[[^\]]*$|\/\/|^!?\/?\s*$|\\[^*?[\]{}!#\\ ]/;

const tree = fc.record({
  files: fc.array(path, {minLength: 1, maxLength: 12}),
  ignores: fc.array(
    fc.record({
      at: fc.array(name, {maxLength: 2}),
      kind: fc.constantFrom('.gitignore', '.gitignore', '.ignore', '.rgignore'),
      lines: ignoreFile,
    }),
    {maxLength: 3},
  ),
});

function make(
  workspace: string,
  {files, ignores}: {files: string[][]; ignores: {at: string[]; kind: string; lines: string[]}[]},
) {
  rmSync(workspace, {recursive: true, force: true});
  mkdirSync(workspace, {recursive: true});
  const put = (parts: readonly string[], text: string) => {
    try {
      mkdirSync(dirname(join(workspace, ...parts)), {recursive: true});
      writeFileSync(join(workspace, ...parts), text);
    } catch {
      // A file stands where a folder was wanted, or the reverse.
    }
  };
  for (const parts of files) put(parts, 'text\n');
  for (const {at, kind, lines} of ignores)
    put([...at, kind], `${lines.filter(line => !unclear.test(line)).join('\n')}\n`);
}

describe.skipIf(!ripgrep)(title, () => {
  it('grep sees the files that ignore files leave', async () => {
    const {run, workspace} = toolHome();
    await fc.assert(
      fc.asyncProperty(tree, async made => {
        make(workspace, made);
        const found = (await run('grep', {pattern: 'text', limit: 2000})) as unknown as {content: string};
        const seen = found.content
          .split('\n')
          .filter(Boolean)
          .map(line => line.replace(/:1:text$/, ''));
        expect(seen.sort()).toEqual(rg(workspace, ['-l', 'text']).sort());
      }),
      runs(120),
    );
  });
});

const sources = {
  'src/a.ts':
    'const alpha = 1;\nfunction getRequest(x) {\n\treturn x[0] + "a.b";\n}\n\n  // TODO: ALPHA (later) 12345\n',
  'src/a.test.ts': 'alpha\nAlpha_2\nfoo  bar\n',
  'src/deep/b.js': 'alpha beta\r\nfoo.bar(baz)\r\n$price = {a: 1};\r\n',
  'docs/c.md': '# Über Größe\nalpha-beta | gamma\nα β γ\n\\d+ \\n C:\\dir\n',
  '.github/w.yml': 'alpha: true\n',
  'noend.txt': 'last alpha',
};

const patterns = [
  'alpha',
  '(?i)ALPHA',
  '\\balpha\\b',
  '^\\s*//',
  '\\d{3,}',
  '[[:alpha:]]+_[[:digit:]]',
  '[^[:space:][:alnum:]]{2}',
  '(?P<word>g\\w+)\\(',
  'foo\\s+bar',
  'foo\\.bar\\(',
  'x\\[0\\]',
  '[]x]\\[',
  'alph++',
  '\\x{41}lpha|\\u{3b2}',
  '\\p{Greek} \\p{L}',
  '\\pL{3}-\\p{Ll}',
  'Gr.{2}e$',
  '\\Alast|later\\)',
  '[\\w.]+\\(baz\\)$',
  '^$',
  'alpha|beta',
  'a(?:lph|mm)a',
  '\\$price = \\{',
  '\\\\d',
];

describe.skipIf(!ripgrep)(title, () => {
  const made = () => {
    const home = toolHome();
    for (const [file, text] of Object.entries(sources)) {
      mkdirSync(dirname(join(home.workspace, file)), {recursive: true});
      writeFileSync(join(home.workspace, file), text);
    }
    return home;
  };
  /** `path:line` of both. */
  const both = async ({run, workspace}: ToolHome, args: Record<string, unknown>, options: readonly string[]) => {
    const place = (line: string) => line.replace(/^((?:[^:]+):\d+):.*$/s, '$1');
    const ours = (await run('grep', args)) as unknown as {content?: string; error?: string};
    const theirs = rg(workspace, ['-n', '--no-heading', '--crlf', ...options]).map(place);
    return [ours.content?.split('\n').filter(Boolean).map(place).sort() ?? ours.error, theirs.sort()];
  };

  it('patterns mean what they mean there', async () => {
    const home = made();
    for (const pattern of patterns) {
      const [ours, theirs] = await both(home, {pattern}, ['-e', pattern]);
      expect(theirs, pattern).not.toEqual([]);
      expect(ours, pattern).toEqual(theirs);
    }
  });

  it('globs choose the files that they choose there', async () => {
    const home = made();
    const globs = [
      '*.ts',
      '*.{ts,js}',
      '!*.test.ts',
      '!*.{md,js}',
      'src/**',
      'src/*.ts',
      '/src/*',
      '**/deep/*',
      '!src',
      '!deep/',
    ];
    for (const glob of [...globs, '!src/deep', 'src/**/*.js', '.g*/**', 'none', '[a-b]*.ts', '!**/*.ts']) {
      const [ours, theirs] = await both(home, {pattern: 'alpha', glob}, [
        '-e',
        'alpha',
        '-g',
        glob,
        ...(glob.startsWith('.') ? ['--hidden'] : []),
      ]);
      expect(ours, glob).toEqual(theirs);
    }
  });

  it('lines around matches are those shown there, in large files too', async () => {
    const {run, workspace} = toolHome();
    const at = new Set([1, 2500, 2503, 2511, 2512, 9998, 12_000]);
    const row = (i: number) =>
      `${i % 7 === 0 ? '' : `${i} ${'some text '.repeat(i % 9)}`}${at.has(i) ? 'needle' : ''}\n`;
    // The pieces end where the bytes have it, so each line gets its chance to be next to an end.
    for (const shift of [0, 1, 2, 3]) {
      const text = `${'x\n'.repeat(shift)}${Array.from({length: 12_000}, (_, i) => row(i + 1)).join('')}`;
      const ends = [64 * 1024, 320 * 1024].map(end => text.slice(0, end).split('\n').length - shift);
      writeFileSync(
        join(workspace, 'f'),
        ends.reduce((all, end) => all.replace(`\n${end} `, `\n${end} needle `), text),
      );
      const ours = (await run('grep', {pattern: 'needle', context: 2})) as unknown as {content: string};
      expect(ours.content.split('\n')).toEqual(rg(workspace, ['-n', '--no-heading', '-C2', '-e', 'needle']));
    }
  });
});
