import {readdirSync, readFileSync, rmSync, truncateSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {Aside, takeAside} from '../../src/store/aside.ts';
import {nodeDisk} from '../../src/store/disk.ts';
import {blobId} from '../../src/store/git/blob-id.ts';
import {temporary} from '../cli/run.ts';

const KB = 1024;
const keep = (aside: Aside, path: string, text: string) =>
  aside.keep(path, blobId(Buffer.from(text)), Buffer.from(text));
const filesOf = (home: string) => readdirSync(join(home, '.agentdir/aside'));
const only = (home: string) => join(home, '.agentdir/aside', filesOf(home)[0] ?? '');

function left(home: string): [string, string][] {
  const found: [string, string][] = [];
  takeAside(nodeDisk(home), ({path, blob, bytes}) => {
    expect(blob).toBe(blobId(bytes));
    found.push([path, bytes.toString()]);
  });
  return found;
}

it('has what was not dropped for the next daemon, in order, once', () => {
  const home = temporary();
  const aside = new Aside(nodeDisk(home));
  for (const text of ['one\n', 'two', '']) keep(aside, 'memory/a "b"\n.md', text);
  keep(aside, 'memory/ü.md', 'three\0\n');
  aside.close();
  expect(left(home)).toEqual([
    ['memory/a "b"\n.md', 'one\n'],
    ['memory/a "b"\n.md', 'two'],
    ['memory/a "b"\n.md', ''],
    ['memory/ü.md', 'three\0\n'],
  ]);
  expect(filesOf(home)).toEqual([]);
  expect(left(home)).toEqual([]);
});

it('takes no more room than what waits does', () => {
  const home = temporary();
  const aside = new Aside(nodeDisk(home));
  const text = 'x'.repeat(256 * KB);
  const drops = Array.from({length: 100}, (_, i) => keep(aside, `memory/${i}.md`, text));
  expect(filesOf(home)).toHaveLength(4);
  // The journal publishes in the order in which it was given things.
  for (const drop of drops.splice(0, 99)) drop();
  expect(filesOf(home)).toHaveLength(1);
  drops[0]?.();
  expect(readFileSync(only(home))).toHaveLength(0);
  keep(aside, 'memory/later.md', 'later\n');
  aside.close();
  expect(left(home)).toEqual([['memory/later.md', 'later\n']]);
});

it('leaves nothing behind when git has all of it', () => {
  const home = temporary();
  const aside = new Aside(nodeDisk(home));
  keep(aside, 'memory/a.md', 'a\n')();
  aside.close();
  expect(filesOf(home)).toEqual([]);
});

it('a version that is not whole is left out, and those before it are not', () => {
  const home = temporary();
  const aside = new Aside(nodeDisk(home));
  keep(aside, 'memory/a.md', 'a\n');
  keep(aside, 'memory/b.md', 'bbb\n');
  aside.close();
  const whole = readFileSync(only(home));
  for (let cut = 1; cut < 40; cut++) {
    writeFileSync(join(home, '.agentdir/aside/1'), whole);
    truncateSync(join(home, '.agentdir/aside/1'), whole.length - cut);
    expect(left(home)[0]).toEqual(['memory/a.md', 'a\n']);
  }
});

it('stays if nobody could take it', () => {
  const home = temporary();
  const aside = new Aside(nodeDisk(home));
  keep(aside, 'memory/a.md', 'a\n');
  aside.close();
  takeAside(nodeDisk(home), () => {
    throw new Error('ENOSPC');
  });
  expect(left(home)).toEqual([['memory/a.md', 'a\n']]);
});

it('is made anew after somebody emptied .agentdir, and does not throw where nothing can be written', () => {
  const home = temporary();
  const aside = new Aside(nodeDisk(home));
  const drop = keep(aside, 'memory/a.md', 'a\n');
  rmSync(join(home, '.agentdir'), {recursive: true});
  drop();
  keep(aside, 'memory/b.md', 'b\n');
  aside.close();
  expect(left(home)).toEqual([['memory/b.md', 'b\n']]);
  rmSync(join(home, '.agentdir'), {recursive: true});
  writeFileSync(join(home, '.agentdir'), '');
  expect(() => keep(new Aside(nodeDisk(home)), 'memory/c.md', 'c\n')()).not.toThrow();
});
