import {appendFileSync, readFileSync, truncateSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {notFound} from '../../src/effects/tools/near-miss.ts';
import {makeRedactor} from '../../src/policy/redact/redact.ts';
import {toolHome} from './tool-home.ts';

interface Read {
  content: string;
  first_line: number;
  last_line: number;
  left_out?: {offset: number; bytes: number; how: string};
}

function withFile(content: string | Buffer) {
  const made = toolHome();
  const path = join(made.workspace, 'f');
  writeFileSync(path, content);
  const read = (args: object = {}) => made.run('read_file', {path: 'f', ...args});
  const edit = async (args: object) => ({
    result: await made.run('edit_file', {path: 'f', ...args}),
    bytes: readFileSync(path),
  });
  return {...made, path, read, edit};
}

describe('read_file of a large file', () => {
  const lines = Array.from({length: 40_000}, (_, i) => `${i + 1} ${'é'.repeat(i % 40)}\r\n`);
  const text = `${lines.join('')}last`;

  it('gives any lines of it, and says how to go on', async () => {
    const {read} = withFile(text);
    expect(await read({offset: 39_999, limit: 2})).toEqual({
      success: true,
      path: 'f',
      content: lines.slice(39_998).join(''),
      first_line: 39_999,
      last_line: 40_000,
      file_bytes: Buffer.byteLength(text),
    });
    expect(await read({offset: 40_001})).toMatchObject({content: 'last', last_line: 40_001});
    expect(await read({offset: 40_002})).toMatchObject({error: 'f has 40001 lines; offset 40002 is beyond them'});
    let all = '';
    for (let offset: number | undefined = 1, calls = 0; offset !== undefined && calls < 200; calls++) {
      const part = (await read({offset})) as unknown as Read;
      expect(part.first_line).toBe(offset);
      expect(Buffer.byteLength(part.content)).toBeLessThanOrEqual(32 * 1024);
      all += part.content;
      offset = part.left_out?.offset;
    }
    expect(all).toBe(text);
  });

  it('counts lines right where the last one ends with a newline', async () => {
    const {read} = withFile('x\n'.repeat(700_000));
    expect(await read({offset: 700_000})).toMatchObject({content: 'x\n', last_line: 700_000});
    expect(await read({offset: 700_001})).toMatchObject({error: 'f has 700000 lines; offset 700001 is beyond them'});
  });

  it('reads no more than it needs', async () => {
    const {read, path} = withFile('first\nsecond\n');
    // More than could be read at all: the rest is a hole.
    truncateSync(path, 1024 ** 4);
    expect(await read({limit: 1})).toMatchObject({error: expect.stringContaining('is binary')});
    writeFileSync(path, `first\nsecond\n${'t'.repeat(9000)}\n`);
    truncateSync(path, 1024 ** 4);
    expect(await read({limit: 2})).toMatchObject({content: 'first\nsecond\n', last_line: 2, file_bytes: 1024 ** 4});
  });

  it('shows the beginning of a line that is longer than a result', async () => {
    const {read, path} = withFile(`a\n${'é€'.repeat(300_000)}\n`);
    appendFileSync(path, 'end\n');
    const part = (await read({offset: 2, limit: 1})) as unknown as Read;
    expect(part).toMatchObject({last_line: 2, left_out: {offset: 3, how: expect.stringContaining('grep')}});
    expect(part.content).toMatch(/^[é€]+$/);
    expect(await read({offset: 3})).toMatchObject({content: 'end\n'});
  });
});

describe('read_file of other encodings', () => {
  it('reads UTF-16 with its mark, and Latin-1, and says so', async () => {
    const utf16 = Buffer.from('\ufeffzwölf\nzwei\n', 'utf16le');
    for (const bytes of [utf16, Buffer.from(utf16).swap16()])
      expect(await withFile(bytes).read({offset: 2})).toMatchObject({
        content: 'zwei\n',
        total_lines: 2,
        note: expect.stringContaining('UTF-16'),
      });
    expect(await withFile(Buffer.from('Größe\n', 'latin1')).read()).toMatchObject({
      content: 'Größe\n',
      note: expect.stringContaining('Latin-1'),
    });
    const broken = Buffer.concat([Buffer.from('Größe '), Buffer.from([0xff]), Buffer.from('\n')]);
    expect(await withFile(broken).read()).toMatchObject({content: 'Größe \ufffd\n', note: expect.any(String)});
    expect(await withFile('\ufeffa\r\nb').read()).toEqual({
      success: true,
      path: 'f',
      content: '\ufeffa\r\nb',
      first_line: 1,
      last_line: 2,
      total_lines: 2,
    });
  });

  it('edit_file leaves them as they are', async () => {
    const bytes = Buffer.from('\ufeffzwölf', 'utf16le');
    const {result, bytes: after} = await withFile(bytes).edit({old: 'zw', new: 'x'});
    expect(result).toMatchObject({code: 'FAILED', error: expect.stringContaining('not UTF-8')});
    expect(after).toEqual(bytes);
  });
});

describe('edit_file that finds nothing', () => {
  const text = "function add(a, b) {\n\treturn a + b;\n}\n\nconst Name = 'x – y';\r\nconst other = add(1, 2);\n";
  it.each([
    [
      'tabs for spaces',
      'function add(a, b) {\n  return a + b;',
      'at line 1 it stands with other white space, in the file it is "function add(a, b) {\\n\\treturn a + b;"',
    ],
    [
      'line ends',
      "const Name = 'x – y';\nconst other",
      'at line 5 it stands with other white space, in the file it is "const Name = \'x – y\';\\r\\nconst other = add(1, 2);"',
    ],
    ['escapes', '}\\n\\nconst', 'it has \\n or \\t as two characters each'],
    ['dashes', "'x - y'", 'at line 5 it stands with other quotes, dashes or spaces, in the file it is "\'x – y\'"'],
    ['case', 'const name', 'at line 5 it stands with other letter case, in the file it is "const Name"'],
    [
      'the rest',
      'function add(a, b) {\n\treturn a - b;',
      'its first line is like line 1, but not the rest: where old has "\\treturn a - b;", line 2 is "\\treturn a + b;"',
    ],
    ['one word', 'const other = add(1, 3);', 'the nearest is line 6: "const other = add(1, 2);"'],
    ['all', 'something else entirely', 'it must be exactly as in the file'],
  ])('says what differs: %s', async (_, old, expected) => {
    const {result, bytes} = await withFile(text).edit({old, new: 'z'});
    expect(result).toMatchObject({success: false, code: 'FAILED'});
    expect((result as {error: string}).error).toContain(expected);
    expect(String(bytes)).toBe(text);
  });

  it('says at which lines several are', async () => {
    const {result} = await withFile('a\nb\na\n').edit({old: 'a\n', new: ''});
    expect(result).toMatchObject({
      error: 'old occurs 2 times in f, at lines 1, 3; give more of the text around it, or set all',
    });
  });

  it('sees one that overlaps another, unless all are meant', async () => {
    const {edit} = withFile('x\n  }\n  }\n  }\n');
    expect((await edit({old: '  }\n  }\n', new: ''})).result).toMatchObject({
      error: 'old occurs 2 times in f, at lines 2, 3; give more of the text around it, or set all',
    });
    const {result, bytes} = await edit({old: '  }\n  }\n', new: '', all: true});
    expect(result).toMatchObject({success: true, replaced: 1});
    expect(String(bytes)).toBe('x\n  }\n');
  });

  it('does no more work for each line the more lines there are', () => {
    const work = (lines: number): number => {
      const {includes, replace} = String.prototype;
      let count = 0;
      const counted = <F extends (...args: never[]) => unknown>(method: F) =>
        function (this: string, ...args: Parameters<F>) {
          count++;
          return method.apply(this, args);
        } as F;
      Object.assign(String.prototype, {includes: counted(includes), replace: counted(replace as never)});
      try {
        const said = notFound('a\n'.repeat(lines), `${'a\n'.repeat(lines / 2)}b\n`, 'f', makeRedactor([]));
        return said.endsWith('the file ends') || said.includes('but not the rest') ? count : Number.POSITIVE_INFINITY;
      } finally {
        Object.assign(String.prototype, {includes, replace});
      }
    };
    // It looks for a bounded time only: on a busy machine it may have to try again.
    let found = work(16_000);
    for (let i = 0; i < 50 && found === Number.POSITIVE_INFINITY; i++) found = work(16_000);
    expect(found).toBeLessThan(40 * 16_000);
  });
});

describe('edit_file of lines that end with \\r\\n', () => {
  it.each([
    ['two', 'two\nand a half', 'one\r\ntwo\r\nand a half\r\nthree\r\n'],
    ['one\ntwo', 'zero\n1\n2', 'zero\r\n1\r\n2\r\nthree\r\n'],
    ['\nthree', '\n3', 'one\r\ntwo\r\n3\r\n'],
    ['two\r\n', '2\r\n\n', 'one\r\n2\r\n\r\nthree\r\n'],
  ])('keeps them: %j', async (old, replacement, expected) => {
    const {bytes} = await withFile('one\r\ntwo\r\nthree\r\n').edit({old, new: replacement});
    expect(String(bytes)).toBe(expected);
  });

  it('leaves a file of both as it is, and says why nothing changes', async () => {
    const {bytes} = await withFile('one\r\ntwo\n').edit({old: 'one', new: '1\n'});
    expect(String(bytes)).toBe('1\n\r\ntwo\n');
    const {result} = await withFile('one\r\n').edit({old: '\r\n', new: '\n'});
    expect(result).toMatchObject({code: 'FAILED', error: expect.stringContaining('edit_file keeps that')});
  });
});
