import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it, vi} from 'vitest';
import {newFileIndex} from '../../src/effects/search/file-index.ts';
import {forgetIndexes, writeIndexes} from '../../src/effects/search/indexes.ts';
import {passagesOf} from '../../src/effects/search/passages.ts';
import {updateIndex} from '../../src/effects/search/update-index.ts';
import {WordIndex} from '../../src/effects/search/word-index.ts';
import {wordsOf} from '../../src/effects/search/words.ts';
import type {ToolResult} from '../../src/effects/tool/tool.ts';
import {makeToolPath} from '../../src/effects/workspace/place.ts';
import {makeRedactor} from '../../src/policy/redact/redact.ts';
import {anyText, linesOf, markdownLines, runs} from '../arbitrary.ts';
import {until} from '../cli/run.ts';
import {type ToolHome, toolHome} from './tool-home.ts';

type Found = {path: string; first_line: number; last_line: number; score: number; heading?: string; text: string};

function withFiles(files: Record<string, string | Buffer>, changes = {}) {
  const made = toolHome(changes);
  for (const [path, content] of Object.entries(files)) write(made, path, content);
  return made;
}

/** `memory/…` is the home's. */
function write({home, workspace}: ToolHome, path: string, content: string | Buffer) {
  const full = join(path.startsWith('memory/') ? home : workspace, path);
  mkdirSync(dirname(full), {recursive: true});
  writeFileSync(full, content);
}

const found = (result: ToolResult): Found[] => {
  expect(result).toMatchObject({success: true});
  return (result as unknown as {passages: Found[]}).passages;
};

const paths = (result: ToolResult) => found(result).map(({path}) => path);

describe('words', () => {
  it('are folded, and parts of names are words too', () => {
    expect(wordsOf('Das Café heißt ÉCOLE')).toEqual(['das', 'cafe', 'heisst', 'ecole']);
    expect(wordsOf('parseHTMLText')).toEqual(['parse', 'html', 'text', 'parsehtmltext']);
    expect(wordsOf('max_file_size src/read-file.ts')).toEqual(
      'max file size max_file_size src read file ts'.split(' '),
    );
    expect(wordsOf('перезапуск Сервера')).toEqual(['перезапуск', 'сервера']);
    expect(wordsOf('東京都の天気')).toEqual(['東京', '京都', '都の', 'の天', '天気']);
    expect(wordsOf('हिन्दी')).toEqual(['हिन्दी']);
    expect(wordsOf(`${'a'.repeat(100_000)} b`)).toEqual(['a'.repeat(64), 'b']);
  });
});

describe('the index of words', () => {
  it('weighs words as if what was discarded had never been there', () => {
    const entry = (id: number, text: string) => ({id, text, name: `${id}.md`, trail: ''});
    const entries = ['redis restart', 'redis', 'restart the server', 'redis redis', 'reddis'].map((text, i) =>
      entry(i, text),
    );
    const [kept, fresh] = [new WordIndex(), new WordIndex()];
    kept.addAll(entries);
    for (const id of [3, 4]) kept.discard(id);
    fresh.addAll(entries.slice(0, 3));
    const scores = (index: WordIndex) =>
      index.find('redis restart', () => true).map(({id, score}) => [id, score.toFixed(6)]);
    expect(scores(kept)).toEqual(scores(fresh));
  });
});

describe('words that are everywhere', () => {
  it('weigh what the library says they do, also after passages were discarded', () => {
    const index = new WordIndex();
    const text = (i: number) => `${'the '.repeat(1 + (i % 7))}${i % 3 ? 'server ' : ''}${'of '.repeat(i % 5)}note ${i}`;
    index.addAll(
      Array.from({length: 90}, (_, i) => ({id: i, text: text(i), name: `the-${i}.md`, trail: i % 2 ? 'of' : ''})),
    );
    // What is kept of a query must not outlive a change.
    expect(index.find('the of', () => true)).toHaveLength(90);
    for (let id = 0; id < 90; id += 8) index.discard(id);
    expect(index.find('the of', () => true)).toHaveLength(78);
    index.add({id: 90, text: 'the of and all that', name: 'new.md', trail: ''});
    const ours = index.find('the of', id => id !== 13).sort((a, b) => a.id - b.id);
    const theirs = index.search('of the', {prefix: false, fuzzy: false}).filter(({id}) => id !== 13);
    expect(ours.map(({id, score, share}) => [id, score.toFixed(9), share])).toEqual(
      theirs
        .sort((a, b) => a.id - b.id)
        .map(({id, score, queryTerms}) => [id, score.toFixed(9), queryTerms.length / 2]),
    );
    expect(ours).toHaveLength(78);
  });
});

describe('passages', () => {
  it('have all that is no blank, in order and within bounds, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(anyText, linesOf(markdownLines, 60), fc.string({maxLength: 9000})),
        fc.boolean(),
        (text, md) => {
          const covered = new Uint8Array(text.length);
          let before = 0;
          for (const {start, end, first, last} of passagesOf(text, md)) {
            expect(end - start).toBeLessThanOrEqual(2400);
            expect(start).toBeGreaterThanOrEqual(md ? before : 0);
            before = end;
            covered.fill(1, start, end);
            expect(text.slice(0, start).split('\n').length).toBe(first);
            expect(last).toBeGreaterThanOrEqual(first);
          }
          for (let i = 0; i < text.length; i++) if (!covered[i]) expect(text.charAt(i).trim()).toBe('');
        },
      ),
      runs(400),
    );
  });

  it('of Markdown stand under their headings, and a heading in a fence is none', () => {
    const text = (rest: string) =>
      `# Redis\n\n## Crash\n\nRestart it.\n\n\`\`\`sh\n# not a heading\n\`\`\`\n${rest}\n## Backup\n\nCopy it.\n`;
    expect([...passagesOf(text('x'.repeat(900)), true)]).toMatchObject([
      {trail: 'Redis › Crash', first: 1, last: 10},
      {trail: 'Redis › Backup', first: 11, last: 13},
    ]);
    // Short sections share one.
    expect([...passagesOf(text(''), true)]).toMatchObject([{trail: 'Redis › Crash · Backup', first: 1, last: 13}]);
    const section = `\n## Part\n\n${'word '.repeat(48)}\n`;
    expect([...passagesOf(`# Note\n${section.repeat(8)}`, true)].length).toBeLessThan(4);
  });
});

describe('search_files', () => {
  it('finds passages of the workspace and of memory, best first, with where they stand', async () => {
    const made = withFiles({
      'src/read-file.ts': 'export function readFile() {\n  return openSync();\n}\n',
      'notes/cooking.md': '# Soup\n\nBoil the water.\n',
      'memory/servers.md': '# Servers\n\n## Redis\n\nAfter a crash restart redis with care.\n\n## Mail\n\nAsk Ann.\n',
    });
    expect(found(await made.run('search_files', {query: 'how to restart redis?'}))[0]).toEqual({
      path: 'memory/servers.md',
      first_line: 1,
      last_line: 9,
      score: expect.any(Number),
      heading: 'Servers › Redis · Mail',
      text: '# Servers\n\n## Redis\n\nAfter a crash restart redis with care.\n\n## Mail\n\nAsk Ann.\n',
    });
    expect(paths(await made.run('search_files', {query: 'readfile'}))).toEqual(['src/read-file.ts']);
    expect(paths(await made.run('search_files', {query: 'restrt'}))).toEqual(['memory/servers.md']);
    expect(paths(await made.run('search_files', {query: 'boil', path: 'memory/'}))).toEqual([]);
    expect(paths(await made.run('search_files', {query: 'boil', path: 'notes/cooking.md'}))).toEqual([
      'notes/cooking.md',
    ]);
    expect(await made.run('search_files', {query: 'x', path: '../other'})).toMatchObject({code: 'DENIED'});
    expect(await made.run('search_files', {query: 'x', path: 'nowhere'})).toMatchObject({code: 'FAILED'});
  });

  it('says what it left out and where it looked', async () => {
    const made = withFiles({
      '.gitignore': 'build/\n',
      'build/out.md': 'zebra',
      '.hidden/x.md': 'zebra',
      'node_modules/m/x.md': 'zebra',
      'image.png': Buffer.from('zebra\0'),
      'large.txt': 'zebra '.repeat(200_000),
      'a.md': 'horse',
    });
    writeFileSync(join(made.home, 'secret.md'), 'zebra');
    symlinkSync(join(made.home, 'secret.md'), join(made.workspace, 'link.md'));
    expect(await made.run('search_files', {query: 'zebra'})).toMatchObject({
      passages: [],
      files: 1,
      skipped: '1 file larger than 1 MB, 1 binary file',
      note: expect.stringMatching(
        /nothing found in the workspace and memory \(1 files\).*ignore files left out 1, 2 hidden/,
      ),
    });
    // What is named itself is searched, and leaves again.
    expect(paths(await made.run('search_files', {query: 'zebra', path: 'build'}))).toEqual(['build/out.md']);
    expect(paths(await made.run('search_files', {query: 'zebra'}))).toEqual([]);
  });

  it('shows no secret, not even one that lies across two passages', async () => {
    const secret = 'correct-horse-battery-staple-9137';
    const line = `${'x'.repeat(2385)}${secret}${' zebra'.repeat(300)}`;
    const redact = makeRedactor([{name: 'KEY', value: secret, named: true}]);
    const made = withFiles({'a.txt': line, 'b.md': `zebra ${secret}`}, {redact});
    const result = await made.run('search_files', {query: 'zebra xxxxxx', limit: 50});
    expect(found(result).length).toBeGreaterThan(1);
    for (let at = 0; at + 8 <= secret.length; at++)
      expect(JSON.stringify(result)).not.toContain(secret.slice(at, at + 8));
  });

  it('keeps no secret on disk either', async () => {
    const secret = 'correct-horse-battery-staple-9137';
    const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
    const redact = makeRedactor([{name: 'KEY', value: secret, named: true}]);
    const made = withFiles({'a.md': `# Key ${secret}\n\nzebra ${secret} ${token}\n`}, {redact});
    expect(paths(await made.run('search_files', {query: 'zebra'}))).toEqual(['a.md']);
    await writeIndexes(made.home);
    const kept = readFileSync(join(made.home, '.agentdir/search/workspace-coder.jsonl'), 'utf8').toLowerCase();
    expect(kept).toContain('zebra');
    for (const part of [...secret.split('-'), token.slice(4).toLowerCase()]) expect(kept).not.toContain(part);
  });

  it('has room for a folder that was moved', async () => {
    const {context, workspace} = withFiles(
      Object.fromEntries(Array.from({length: 17}, (_, i) => [`old/${i}.txt`, 'zebra\n'.repeat(20)])),
    );
    const index = newFileIndex(20);
    const look = () => updateIndex(index, context, makeToolPath('workspace', []));
    expect(await look()).toMatchObject({files: 17, full: 0});
    renameSync(join(workspace, 'old'), join(workspace, 'new'));
    expect(await look()).toMatchObject({files: 17, full: 0});
    for (let i = 0; i < 5; i++) writeFileSync(join(workspace, `${i}.md`), 'zebra\n');
    expect(await look()).toMatchObject({files: 19, full: 3});
    // Those that had none get it once there is.
    for (const name of ['1', '2', '3', '4', '5']) rmSync(join(workspace, `new/${name}.txt`));
    expect(await look()).toMatchObject({files: 17, full: 0});
  });

  it('reads a file once when it has settled, and again when anything of it changed', async () => {
    const {context} = withFiles({'a.md': 'one', 'b.md': 'two', 'c/d.txt': 'three'});
    const path = join(context.workspace, 'b.md');
    const past = new Date('2026-01-01');
    utimesSync(path, past, past);
    const index = newFileIndex();
    const look = async () => {
      const {revision} = index;
      await updateIndex(index, context, makeToolPath('workspace', []));
      return index.revision - revision;
    };
    await vi.waitFor(async () => expect(await look()).toBe(0), {timeout: 60_000, interval: 20});
    // Size and time are as they were. Its passages leave, and come.
    writeFileSync(path, 'six');
    utimesSync(path, past, past);
    expect(await look()).toBe(2);
    expect(index.words.find('six', () => true).length).toBe(1);
    rmSync(join(context.workspace, 'c'), {recursive: true});
    await vi.waitFor(async () => expect(await look()).toBe(0), {timeout: 60_000, interval: 20});
    expect([...index.files.keys()]).toEqual(['a.md', 'b.md']);
    expect(index.words.documentCount).toBe(2);
    // It may change once more within the same tick of its clock.
    utimesSync(path, past, new Date(Date.now() + 3_600_000));
    expect([await look(), await look()]).toEqual([1, 1]);
  });

  it('gives after any changes what a new index gives', async () => {
    const name = fc.constantFrom('a.md', 'b.md', 'c.txt', 'd/a.md', 'd/e/f.ts');
    const word = fc.constantFrom('redis', 'restart', 'restarted', 'server', 'Server_name', 'backup', 'the', 'reddis');
    const text = fc
      .array(fc.oneof(word, fc.constant('\n\n'), fc.constant('\n# ')), {maxLength: 12})
      .map(all => all.join(' '));
    const step = fc.oneof(
      fc.record({put: name, text}),
      fc.record({remove: name}),
      fc.record({from: name, to: name}),
      fc.constant('restart' as const),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, {minLength: 1, maxLength: 8}),
        fc.array(word, {minLength: 1, maxLength: 3}),
        async (steps, query) => {
          const made = toolHome();
          const ask = {query: query.join(' '), limit: 50};
          let kept: ToolResult | undefined;
          for (const one of steps) {
            if (one === 'restart') {
              await writeIndexes(made.home);
              forgetIndexes(made.home);
            } else if ('put' in one) write(made, one.put, one.text);
            else if ('remove' in one) rmSync(join(made.workspace, one.remove), {force: true});
            else move(made, one.from, one.to);
            kept = await made.run('search_files', ask);
          }
          forgetIndexes(made.home);
          rmSync(join(made.home, '.agentdir'), {recursive: true, force: true});
          expect(kept).toEqual(await made.run('search_files', ask));
        },
      ),
      runs(60),
    );
  });

  it('goes on from disk after a restart, and does without what is broken there', async () => {
    const made = withFiles({'a.md': '# Redis\n\nrestart it', 'b.txt': 'zebra', 'memory/c.md': 'redis notes'});
    const query = {query: 'redis'};
    const before = await made.run('search_files', query);
    await writeIndexes(made.home);
    const folder = join(made.home, '.agentdir/search');
    const kept = readdirSync(folder).map(
      name => [join(folder, name), readFileSync(join(folder, name), 'utf8')] as const,
    );
    expect(kept.map(([path]) => path.slice(folder.length + 1)).sort()).toEqual([
      'memory.jsonl',
      'workspace-coder.jsonl',
    ]);
    expect(statSync(kept[0]?.[0] ?? '').mode & 0o77).toBe(0);
    for (const spoil of [
      (text: string) => text,
      (text: string) => text.slice(0, text.length / 2),
      (text: string) => text.replace('redis', 'radish'),
      () => '',
      () => 'null\n',
      (text: string) => text.replaceAll('\n', ''),
    ]) {
      for (const [path, text] of kept) writeFileSync(path, spoil(text));
      forgetIndexes(made.home);
      expect(await made.run('search_files', query)).toEqual(before);
    }
  });

  it('holds on to hostile files without standing still', async () => {
    const made = withFiles({
      'one-line.txt': 'needle '.repeat(149_000),
      'headings.md': '# h\n'.repeat(100_000),
      'depth.md': Array.from({length: 20_000}, (_, i) => `${'#'.repeat((i % 6) + 1)} needle ${i}`).join('\n'),
      'fences.md': '```\n~~~\n'.repeat(50_000),
      'nul.txt': Buffer.alloc(1000),
      'word.txt': 'a'.repeat(1_000_000),
      'wide.txt': Buffer.from('\ufeffneedle in UTF-16', 'utf16le'),
    });
    // A search reads for a limited time; on a busy machine the next one reads the rest.
    const result = await until(
      () => made.run('search_files', {query: 'needle', limit: 50}),
      found => 'files' in found && found.files === 6,
    );
    expect(JSON.stringify(result).length).toBeLessThan(48_000);
    expect(result).toMatchObject({files: 6, skipped: '1 binary file'});
    expect(paths(await made.run('search_files', {query: 'needle utf', path: 'wide.txt'}))).toEqual(['wide.txt']);
  });

  it('stops when it is told to, and goes on with the next search', async () => {
    const abort = new AbortController();
    const files = Object.fromEntries(Array.from({length: 300}, (_, i) => [`${i}.md`, `zebra ${i} `.repeat(200)]));
    const made = withFiles(files, {signal: abort.signal});
    setTimeout(() => abort.abort(), 1);
    expect(await made.run('search_files', {query: 'zebra'})).toMatchObject({code: 'INTERRUPTED'});
    made.context.signal = new AbortController().signal;
    expect(await made.run('search_files', {query: 'zebra'})).toMatchObject({files: 300});
  });
});

function move({workspace}: ToolHome, from: string, to: string) {
  mkdirSync(dirname(join(workspace, to)), {recursive: true});
  try {
    renameSync(join(workspace, from), join(workspace, to));
  } catch {
    // There is none.
  }
}
