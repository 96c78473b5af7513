import {closeSync, mkdirSync, openSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import fc from 'fast-check';
import {minimatch} from 'minimatch';
import {describe, expect, it} from 'vitest';
import {globMatches, globPattern} from '../../src/effects/workspace/glob-pattern.ts';
import {nameMatcher} from '../../src/effects/workspace/name-pattern.ts';
import {cpu} from '../cpu.ts';
import {toolHome} from './tool-home.ts';

function withFiles(files: Record<string, string | Buffer>, changes = {}) {
  const made = toolHome(changes);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(made.workspace, path)), {recursive: true});
    writeFileSync(join(made.workspace, path), content);
  }
  return made;
}

const matches = (pattern: string, path: string) => {
  const compiled = globPattern(pattern);
  return typeof compiled === 'string' ? compiled : globMatches(compiled, path.split('/'));
};

describe('globs', () => {
  it('mean what they mean elsewhere', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      'ab',
      '*',
      '?',
      '**',
      '/',
      '/**/',
      '[ab]',
      '[!a]',
      '{a,b}',
      '{a,{b,ab}}',
      '.',
      '\\*',
    );
    const name = fc.constantFrom('a', 'b', 'ab', 'ba', 'aab', 'a.b', '.a', '*', 'b*');
    fc.assert(
      fc.property(
        fc.array(piece, {minLength: 1, maxLength: 6}),
        fc.array(name, {minLength: 1, maxLength: 4}),
        (p, n) => {
          const pattern = p.join('');
          // A path has no empty parts; and ** within a name is just *.
          fc.pre(!/^\/|\/$|\/\/|\*\*\*|[^/]\*\*|\*\*[^/]|(^|[/{,])\.\.?($|[/},])/.test(pattern));
          const path = n.join('/');
          expect(matches(pattern, path), `${pattern} ${path}`).toBe(minimatch(path, pattern, {dot: true, noext: true}));
        },
      ),
      {numRuns: 2000},
    );
  });

  it('take no longer for a hostile pattern', () => {
    const began = cpu();
    expect(nameMatcher(`${'*a'.repeat(100)}*b`)('a'.repeat(255))).toBe(false);
    expect(matches(`${'**/a/'.repeat(100)}b`, 'a/'.repeat(60))).toBe(false);
    expect(matches('{a,b}'.repeat(20), 'a')).toMatch(/alternatives/);
    expect(matches('{'.repeat(1000), 'a')).toMatch(/no }/);
    expect(cpu() - began).toBeLessThan(500);
  });

  it('find files, in order, as paths for the other tools', async () => {
    const {run, home} = withFiles({
      'src/a.ts': '',
      'src/deep/b.ts': '',
      'c.ts': '',
      '.hidden/d.ts': '',
      'tasks/e.ts': '',
    });
    writeFileSync(join(home, 'memory/m.md'), '');
    expect(await run('glob', {pattern: '**/*.ts'})).toEqual({
      success: true,
      files: ['.hidden/d.ts', 'c.ts', 'src/a.ts', 'src/deep/b.ts', './tasks/e.ts'],
    });
    expect(await run('glob', {pattern: 'src/*.ts'})).toMatchObject({files: ['src/a.ts']});
    expect(await run('glob', {pattern: '*.ts', path: 'src'})).toMatchObject({files: ['src/a.ts']});
    expect(await run('glob', {pattern: '{src,.hidden}/**'})).toMatchObject({
      files: ['.hidden/d.ts', 'src/a.ts', 'src/deep/b.ts'],
    });
    expect(await run('glob', {pattern: 'memory/*'})).toMatchObject({files: ['memory/m.md']});
    expect(await run('glob', {pattern: './tasks/*'})).toMatchObject({files: ['./tasks/e.ts']});
    expect(await run('glob', {pattern: 'a.ts'})).toMatchObject({files: [], note: expect.stringContaining('**/a.ts')});
    expect(await run('glob', {pattern: 'no/such/*'})).toMatchObject({success: true, files: []});
    expect(await run('glob', {pattern: 'src/a.ts'})).toMatchObject({files: ['src/a.ts']});
  });
});

describe('glob', () => {
  it('says what is wrong with a pattern that can find nothing', async () => {
    const {run} = withFiles({'sub/a.ts': '', 'x[1].ts': '', '{y}.ts': ''});
    const refused = {code: 'INVALID_ARGUMENTS'};
    expect(await run('glob', {pattern: 'sub/'})).toMatchObject({...refused, error: expect.stringContaining('sub/**')});
    expect(await run('glob', {pattern: '{a,b'})).toMatchObject({...refused, error: expect.stringContaining('no }')});
    expect(await run('glob', {pattern: 'sub/[a'})).toMatchObject({...refused, error: expect.stringContaining('no ]')});
    expect(await run('grep', {pattern: 'x', glob: '*.{ts,js'})).toMatchObject(refused);
    expect(await run('glob', {pattern: 'sub'})).toMatchObject({files: [], note: expect.stringContaining('sub/**')});
    expect(await run('glob', {pattern: 'x\\[1].ts'})).toMatchObject({files: ['x[1].ts']});
    expect(await run('glob', {pattern: '{y}.ts'})).toMatchObject({files: ['{y}.ts']});
  });

  it('says that there are more only if there are', async () => {
    const {run, workspace} = withFiles(Object.fromEntries(Array.from({length: 1000}, (_, i) => [`f${i}`, ''])));
    const all = (await run('glob', {pattern: '*'})) as unknown as {files: string[]};
    expect(all.files).toHaveLength(1000);
    expect(all).not.toHaveProperty('incomplete');
    writeFileSync(join(workspace, 'g'), '');
    expect(await run('glob', {pattern: '*'})).toMatchObject({incomplete: expect.stringContaining('first 1000')});
  });

  it.runIf(process.env.TESTS === 'all')('finds a name among more files than are looked at', async () => {
    const {run, workspace} = withFiles({'many/.gitignore': ''});
    for (let i = 0; i <= 50_000; i++) closeSync(openSync(join(workspace, 'many', `f${i}.txt`), 'w'));
    const names = ['f0.txt', 'f25000.txt', 'f50000.txt', 'f49999.txt'];
    for (const name of names) {
      expect(await run('glob', {pattern: `many/${name}`})).toEqual({success: true, files: [`many/${name}`]});
      expect(await run('glob', {pattern: name, path: 'many'})).toEqual({success: true, files: [`many/${name}`]});
      writeFileSync(join(workspace, 'many', name), 'needle\n');
      expect(await run('grep', {pattern: 'needle', path: `many/${name}`})).toMatchObject({matches: 1});
    }
    expect(await run('glob', {pattern: '**/*.none'})).toMatchObject({
      files: [],
      incomplete: expect.stringContaining('many has more than 50000 entries'),
    });
  });
});

describe('ignore files', () => {
  it('keep out what they name, unless it is named itself', async () => {
    const {run} = withFiles({
      '.gitignore': '# comment\n*.log\n/build/\n!keep.log\nlib/*.js\nfoo\\ \n',
      '.ignore': 'secret.txt\n',
      'a.log': 'x',
      'keep.log': 'x',
      'secret.txt': 'x',
      'build/out.txt': 'x',
      'src/build/in.txt': 'x',
      'src/.gitignore': '!b.log\nlocal\n',
      'src/b.log': 'x',
      'src/c.log': 'x',
      'src/local/y': 'x',
      'lib/a.js': 'x',
      'lib/deep/b.js': 'x',
      'node_modules/m/index.js': 'x',
      'local/z': 'x',
    });
    const found = {
      matches: 6,
      content: 'keep.log:1:x\nlib/deep/b.js:1:x\nlocal/z:1:x\nsrc/b.log:1:x\nsrc/build/in.txt:1:x\n',
    };
    const seen = ['keep.log', 'lib/deep/b.js', 'local/z', 'src/b.log', 'src/build/in.txt'];
    expect(await run('glob', {pattern: '**/[!.]*'})).toMatchObject({files: seen});
    expect(await run('grep', {pattern: '^x'})).toMatchObject({content: found.content.trimEnd(), files: 5});
    expect(await run('grep', {pattern: 'x', path: 'build'})).toMatchObject({matches: 1});
    expect(await run('grep', {pattern: 'x', path: 'a.log'})).toMatchObject({matches: 1});
    expect(await run('grep', {pattern: 'x', path: 'src'})).toMatchObject({files: 2});
    expect(await run('glob', {pattern: 'a.log'})).toEqual({success: true, files: ['a.log']});
    expect(await run('glob', {pattern: 'local/y', path: 'src'})).toEqual({success: true, files: ['src/local/y']});
    expect(await run('glob', {pattern: 'node_modules/m/*'})).toMatchObject({files: ['node_modules/m/index.js']});
    expect(await run('glob', {pattern: '*/out.txt'})).toMatchObject({
      files: [],
      note: expect.stringContaining('ignore files'),
    });
  });
});

describe('grep', () => {
  const files = {
    'a.txt': 'one\ntwo\nthree\nfour\nfive\nsix two\n',
    'b/c.md': 'TWO\r\nzwei\r\n',
    'image.png': Buffer.from([0x74, 0x77, 0x6f, 0]),
  };

  it('finds lines, with file and number', async () => {
    const {run} = withFiles(files);
    expect(await run('grep', {pattern: 'two'})).toEqual({
      success: true,
      matches: 2,
      files: 1,
      content: 'a.txt:2:two\na.txt:6:six two',
      skipped: '1 binary file that may match',
    });
    expect(await run('grep', {pattern: '^two$', ignore_case: true})).toMatchObject({
      content: 'a.txt:2:two\nb/c.md:1:TWO',
    });
    expect(await run('grep', {pattern: '(?i)ZWEI'})).toMatchObject({content: 'b/c.md:2:zwei'});
    expect(await run('grep', {pattern: 'two', glob: '*.md', ignore_case: true})).toMatchObject({files: 1, matches: 1});
    expect(await run('grep', {pattern: 't', glob: 'b/**'})).toMatchObject({matches: 0});
    expect(await run('grep', {pattern: 'two', path: 'b'})).toMatchObject({matches: 0, content: ''});
    expect(await run('grep', {pattern: 'two', limit: 1})).toMatchObject({matches: 1, incomplete: expect.any(String)});
    expect(await run('grep', {pattern: 'two(?!\\s)'})).toMatchObject({matches: 2});
    expect(await run('grep', {pattern: 'one\\s+two'})).toMatchObject({matches: 0});
    expect(await run('grep', {pattern: 'x', path: 'none'})).toMatchObject({code: 'FAILED'});
  });

  it('shows lines around, each once', async () => {
    const {run} = withFiles(files);
    expect(await run('grep', {pattern: 'two', context: 1, path: 'a.txt'})).toMatchObject({
      content: 'a.txt-1-one\na.txt:2:two\na.txt-3-three\n--\na.txt-5-five\na.txt:6:six two',
    });
    expect(await run('grep', {pattern: 'o', context: 2, path: 'a.txt'})).toMatchObject({
      content: 'a.txt:1:one\na.txt:2:two\na.txt-3-three\na.txt:4:four\na.txt-5-five\na.txt:6:six two',
    });
    expect(await run('grep', {pattern: 'two', context: 0, ignore_case: true})).toMatchObject({matches: 3});
  });

  it('finds the lines of long files, and the part of a long line that matches', async () => {
    const lines = Array.from({length: 100_000}, (_, i) =>
      i % 30_000 === 29_999 ? `needle ${i + 1}` : `line ${i + 1}`,
    );
    const {run} = withFiles({
      'long.txt': lines.join('\n'),
      'wide.txt': `${'a'.repeat(700_000)}needle${'b'.repeat(700_000)}`,
    });
    expect(await run('grep', {pattern: 'needle \\d+'})).toMatchObject({
      content: [30_000, 60_000, 90_000].map(n => `long.txt:${n}:needle ${n}`).join('\n'),
    });
    const wide = (await run('grep', {pattern: 'needle', path: 'wide.txt'})) as unknown as {content: string};
    expect(wide.content).toMatch(/^wide\.txt:1:…a+needleb+…$/);
    expect(wide.content.length).toBeLessThan(500);
  });

  it('gives no more than a result carries', async () => {
    const {run} = withFiles({'many.txt': `${'x'.repeat(300)}\n`.repeat(3000)});
    const result = (await run('grep', {pattern: 'x', limit: 100_000})) as unknown as {
      content: string;
      incomplete: string;
    };
    expect(result.content.length).toBeLessThan(34 * 1024);
    expect(result.incomplete).toBeDefined();
  });

  it.each(['(a+)+$', '(.*)(.*)(.*)(.*)(.*)(.*)[xy]'])('ends a pattern that would take for ever: %s', async pattern => {
    const {run} = withFiles({'evil.txt': `${'a'.repeat(2000)}!`, 'good.txt': 'ok'});
    const began = performance.now();
    expect(await run('grep', {pattern})).toMatchObject({
      success: false,
      code: 'TIMEOUT',
      error: expect.stringContaining('evil.txt'),
    });
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(await run('grep', {pattern: 'ok'})).toMatchObject({matches: 1});
  });

  it('lets others run meanwhile, and stops when told to', async () => {
    const stop = new AbortController();
    const many = Object.fromEntries(
      Array.from({length: 400}, (_, i) => [`d${i % 20}/f${i}.txt`, 'some text\n'.repeat(2000)]),
    );
    const {run} = withFiles(many, {signal: stop.signal});
    let turns = 0;
    let searching = true;
    const others = () => {
      turns++;
      if (searching) setImmediate(others);
    };
    const began = cpu();
    setImmediate(others);
    expect(await run('grep', {pattern: '(s.me|none) [a-z]+ nothing'})).toMatchObject({success: true, matches: 0});
    searching = false;
    expect(turns).toBeGreaterThan((cpu() - began) / 50);
    const stopped = run('grep', {pattern: 'nothing at all|none'});
    setImmediate(() => stop.abort());
    expect(await stopped).toMatchObject({code: 'INTERRUPTED'});
  });
});
