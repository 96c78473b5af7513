import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, describe, expect, it, vi} from 'vitest';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {watchHome} from '../../src/home/watch.ts';
import {Renames} from '../../src/loop/renames.ts';

const PATH = 'memory/m.md';
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A watched home with one file, and whether that file, as it is now, came by a rename. */
async function watched() {
  const home = mkdtempSync(join(tmpdir(), 'renames-'));
  mkdirSync(join(home, 'memory'));
  const file = join(home, PATH);
  writeFileSync(file, 'before\n');
  const inode = `${statSync(file).ino}`;
  const renames = new Renames(nodeDisk(home));
  let told = 0;
  const watch = watchHome(nodeDisk(home), (path, event) => {
    told++;
    if (path !== undefined) renames.noteEvent(path, event);
  });
  watch.cover('memory');
  closing.push(() => {
    watch.close();
    rmSync(home, {recursive: true, force: true});
  });
  const came = async () => {
    await vi.waitFor(() => expect(told).toBeGreaterThan(0));
    return renames.has(PATH, statSync(file, {bigint: true}), inode);
  };
  return {home, file, renames, inode, came};
}

describe.skipIf(process.platform !== 'linux')('a file came by a rename', () => {
  it('if it was written elsewhere and renamed', async () => {
    const {file, came} = await watched();
    writeFileSync(`${file}.tmp`, 'after\n');
    renameSync(`${file}.tmp`, file);
    expect(await came()).toBe(true);
  });

  it('if the old one was moved away first, as gedit and IntelliJ do', async () => {
    const {file, came} = await watched();
    writeFileSync(`${file}.tmp`, 'after\n');
    renameSync(file, `${file}~`);
    renameSync(`${file}.tmp`, file);
    rmSync(`${file}~`);
    expect(await came()).toBe(true);
  });

  it('not if the old one was moved away and a new one is being written in its place, as vim and Emacs do', async () => {
    const {file, came} = await watched();
    renameSync(file, `${file}~`);
    const fd = openSync(file, 'w');
    closing.push(() => closeSync(fd));
    writeSync(fd, 'half\n');
    expect(await came()).toBe(false);
  });

  it('not if it was removed and is being written anew, as git does', async () => {
    const {file, came} = await watched();
    rmSync(file);
    const fd = openSync(file, 'wx');
    closing.push(() => closeSync(fd));
    writeSync(fd, 'half\n');
    expect(await came()).toBe(false);
  });

  it('not if it is the same file, written in place', async () => {
    const {file, came} = await watched();
    writeFileSync(file, 'after\n');
    expect(await came()).toBe(false);
  });

  it('not if its writer goes on after the rename', async () => {
    const {file, came} = await watched();
    const fd = openSync(`${file}.tmp`, 'w');
    closing.push(() => closeSync(fd));
    writeSync(fd, 'half\n');
    renameSync(`${file}.tmp`, file);
    writeSync(fd, 'more\n');
    expect(await came()).toBe(false);
  });

  it('not if it has another name, under which somebody may be writing', async () => {
    const {file, came} = await watched();
    writeFileSync(`${file}.tmp`, 'after\n');
    rmSync(file);
    linkSync(`${file}.tmp`, file);
    expect(await came()).toBe(false);
  });

  it('not if events were lost', async () => {
    const {file, renames, came} = await watched();
    writeFileSync(`${file}.tmp`, 'after\n');
    renameSync(`${file}.tmp`, file);
    expect(await came()).toBe(true);
    renames.forgetAll();
    expect(await came()).toBe(false);
  });
});
