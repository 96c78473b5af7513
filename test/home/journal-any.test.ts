import {execFileSync} from 'node:child_process';
import {existsSync, lstatSync, mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it, onTestFinished} from 'vitest';
import {Journal} from '../../src/home/journal.ts';
import {git, temporary, thorough, until} from '../cli/run.ts';
import {entry, fileAt, lines, open, removal, repository, soundness, write} from './repository.ts';

/** Few names, so that files and folders get into each other's way. */
const part = fc.constantFrom('a', 'a-', 'a.md', 'b', 'ä', 'a0');
const path = fc.array(part, {minLength: 1, maxLength: 3}).map(parts => `memory/${parts.join('/')}`);
const change = fc.record({path, text: fc.option(fc.string({maxLength: 40}), {freq: 3, nil: undefined})});

describe('whatever is changed', () => {
  it('tree and index hold exactly what was put, one by one and many at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, {minLength: 1, maxLength: 60}), fc.boolean(), async (changes, flood) => {
        const dir = await repository({'memory/a': '0\n', 'other/x.txt': 'x\n', 'z.txt': 'z\n'});
        const journal = await open(dir, {minGapMs: 0});
        const model = new Map([
          ['memory/a', '0\n'],
          ['other/x.txt', 'x\n'],
          ['z.txt', 'z\n'],
        ]);
        const added: Promise<unknown>[] = [];
        for (const {path, text} of changes) {
          if (text === undefined) model.delete(path);
          else {
            for (const other of [...model.keys()])
              if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) model.delete(other);
            model.set(path, text);
          }
          const content = text === undefined ? undefined : {bytes: Buffer.from(text), mode: '100644' as const};
          const done = journal.add(entry({path, content, stat: undefined}, path));
          if (flood) added.push(done);
          else await done;
        }
        await Promise.all(added);
        await journal.close();
        const expected = [...model].map(([path, text]) => `${Journal.blobId(Buffer.from(text))} ${path}`).sort();
        const tree = lines(
          await git(dir, '-c', 'core.quotePath=false', 'ls-tree', '-r', '--format=%(objectname) %(path)', 'HEAD'),
        );
        const index = lines(await git(dir, '-c', 'core.quotePath=false', 'ls-files', '--format=%(objectname) %(path)'));
        expect(tree.sort()).toEqual(expected);
        expect(index.sort()).toEqual(expected);
        await soundness(dir);
        rmSync(dir, {recursive: true});
      }),
      {numRuns: (thorough ? 15 : 6) * Number(process.env.FUZZ || 1)},
    );
  });
});

describe('maintenance', () => {
  it('packs loose objects when idle, keeps what nobody refers to, and the journal goes on', async () => {
    const dir = await repository({'memory/a.md': 'a\n'});
    const journal = await open(dir, {minGapMs: 0, idleMs: 50, maxLoose: 0});
    const kept = journal.keep(Buffer.from('nobody refers to this'));
    for (let i = 0; i < 90; i++) await journal.add(entry(write(dir, 'memory/a.md', `${i}\n`.repeat(50)), `${i}`));
    const loose = async () => Number.parseInt(await git(dir, 'count-objects'), 10);
    const before = await loose();
    await until(loose, count => count < before / 4);
    await journal.add(entry(write(dir, 'memory/a.md', 'end\n'), 'end'));
    expect(await journal.read(kept)).toEqual(Buffer.from('nobody refers to this'));
    expect(await git(dir, 'rev-list', '--count', 'HEAD')).toBe('92\n');
    expect(await soundness(dir)).toBe('');
  });
});

describe('a full disk', () => {
  const place = temporary;
  it('is waited for, said, and nothing is lost', async context => {
    const disk = join(place(), 'disk');
    mkdirSync(disk);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], {stdio: 'ignore'});
    } catch {
      context.skip('needs the right to mount');
    }
    onTestFinished(() => {
      execFileSync('umount', ['-l', disk]);
    });
    await git(disk, 'init', '-q', '-b', 'main', '--template=');
    write(disk, 'memory/a.md', 'a\n');
    const journal = await open(disk);
    await journal.add(entry(fileAt(disk, 'memory/a.md'), 'first'));
    const ballast = join(disk, 'ballast');
    const change = write(disk, 'memory/a.md', 'b\n');
    for (let size = 1_000_000; size >= 1; size = Math.floor(size / 2))
      for (;;) {
        try {
          writeFileSync(ballast, Buffer.alloc(size), {flag: 'a'});
        } catch {
          break;
        }
      }
    const added = journal.add(entry(change, 'second'));
    await until(
      () => journal.waiting,
      why => why?.includes('disk is full') === true,
    );
    rmSync(ballast);
    await added;
    expect(journal.waiting).toBeUndefined();
    expect(await git(disk, 'log', '--format=%s')).toBe('second\nfirst\n');
    expect(await soundness(disk)).toBe('');
  });
});

describe('time stamps', () => {
  it('a change of the same size in the same moment is never taken for none', async () => {
    const dir = await repository({'memory/a.md': '0000\n', 'x.txt': '0000\n'});
    const journal = await open(dir, {minGapMs: 0});
    for (let i = 1; i < 30; i++) {
      // Theirs: staged, then changed again at once. Ours: changed again right after it was handed over.
      write(dir, 'x.txt', `${1000 + i}\n`);
      await git(dir, 'add', 'x.txt');
      writeFileSync(join(dir, 'x.txt'), `${2000 + i}\n`);
      const change = write(dir, 'memory/a.md', `${1000 + i}\n`);
      const added = journal.add(entry(change));
      if (i % 2 === 0) writeFileSync(join(dir, 'memory/a.md'), `${2000 + i}\n`);
      await added;
      expect(await git(dir, '--no-optional-locks', 'status', '--porcelain')).toBe(
        i % 2 === 0 ? ' M memory/a.md\nMM x.txt\n' : 'MM x.txt\n',
      );
    }
    expect(existsSync(join(dir, '.git/index.lock'))).toBe(false);
    expect(lstatSync(join(dir, '.git/index')).isFile()).toBe(true);
  });

  it('a removal that was taken back, and a stash, get a moment to be undone', async () => {
    const dir = await repository({'memory/a.md': 'a\n'});
    const journal = await open(dir, {minGapMs: 0});
    await journal.add(entry(write(dir, 'memory/a.md', 'b\n'), 'b'));
    const change = write(dir, 'memory/a.md', 'c\n');
    await git(dir, 'stash', '-q');
    const added = journal.add(entry(change, 'c'));
    await git(dir, 'stash', 'pop', '-q');
    await added;
    expect(await soundness(dir)).toBe('');
    rmSync(join(dir, 'memory/a.md'));
    await journal.add(entry(removal('memory/a.md'), 'gone'));
    expect(await git(dir, 'log', '--format=%s')).toBe('gone\nc\nb\nstart\n');
    expect(await soundness(dir)).toBe('');
  });
});
