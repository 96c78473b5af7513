import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {isFailure} from '../../src/effects/tool/failure.ts';
import {closeFolder, entryOf, openFolder} from '../../src/effects/workspace/folder.ts';
import {openIn} from '../../src/effects/workspace/open-file.ts';
import {parseToolPath} from '../../src/effects/workspace/place.ts';
import type {ToolHome} from '../effects/tool-home.ts';
import {allOf, codes, everywhere, guarded, SECRET, untouched} from './guarded-home.ts';

describe('links are not followed', () => {
  const links: [string, (made: ToolHome) => unknown, string][] = [
    ['to a file outside', m => symlinkSync(join(m.home, 'secret.txt'), join(m.workspace, 'l')), 'l'],
    ['to a file outside, relative', m => symlinkSync('../../secret.txt', join(m.workspace, 'l')), 'l'],
    ['to the home', m => symlinkSync(m.home, join(m.workspace, 'l')), 'l/secret.txt'],
    ['to another workspace', m => symlinkSync('../other', join(m.workspace, 'l')), 'l/file'],
    ['to a folder, with a slash', m => symlinkSync('../other', join(m.workspace, 'l')), 'l/'],
    ['to /proc', m => symlinkSync('/proc/self', join(m.workspace, 'l')), 'l/environ'],
    ['to nothing', m => symlinkSync('../../new.txt', join(m.workspace, 'l')), 'l'],
    ['in the midst', m => symlinkSync('../../other', join(m.workspace, 'sub/l')), 'sub/l/file'],
    ['in a circle', m => symlinkSync('l', join(m.workspace, 'l')), 'l'],
    ['to a descriptor', m => symlinkSync('/proc/self/fd/0', join(m.workspace, 'l')), 'l'],
    ['to the root of a process', m => symlinkSync('/proc/self/root', join(m.workspace, 'l')), 'l/etc/passwd'],
    ['to standard input', m => symlinkSync('/dev/stdin', join(m.workspace, 'l')), 'l'],
    ['to a device', m => symlinkSync('/dev/zero', join(m.workspace, 'l')), 'l'],
    ['to the policy', m => symlinkSync('../../allowlist.yaml', join(m.workspace, 'l')), 'l'],
    ['to the approvals', m => symlinkSync('../../approvals', join(m.workspace, 'l')), 'l/pending/1.approval.md'],
    ['to the templates', m => symlinkSync('../../templates', join(m.workspace, 'l')), 'l/coder.agent.yaml'],
    ['to new templates', m => symlinkSync('../../templates', join(m.workspace, 'l')), 'l/new.agent.yaml'],
    ["to the home's git", m => symlinkSync('../../.git', join(m.workspace, 'l')), 'l/hooks/pre-commit'],
    ['to its own git directory', m => symlinkSync('../../.workspaces/coder.git', join(m.workspace, 'l')), 'l/config'],
    ["to the daemon's files", m => symlinkSync('../../.agentdir', join(m.workspace, 'l')), 'l/lock'],
    [
      'to a link',
      m => [symlinkSync('k', join(m.workspace, 'l')), symlinkSync('..', join(m.workspace, 'k'))],
      'l/other',
    ],
    ['within the workspace', m => symlinkSync('sub', join(m.workspace, 'l')), 'l/x'],
    ['in memory', m => symlinkSync('../secret.txt', join(m.home, 'memory/l')), 'memory/l'],
  ];

  it.each(links)('%s', async (_, make, path) => {
    const made = guarded();
    make(made);
    const bad = 'INVALID_ARGUMENTS';
    const noFile = path.endsWith('/') ? {write: bad, create: bad, edit: bad} : {};
    expect(codes(await everywhere(made, path))).toEqual({...allOf('DENIED'), ...noFile});
    untouched(made.home);
    expect(JSON.stringify(await made.run('grep', {pattern: 'secret'}))).not.toContain(SECRET);
    expect(await made.run('glob', {pattern: '**'})).toEqual({success: true, files: []});
    expect(JSON.stringify(await made.run('list_directory', {recursive: true}))).not.toContain('file');
  });

  it.each([0, 1, 2, 3])('at part %i of a path, where the same names are outside', async at => {
    const made = guarded();
    const parts = ['a', 'b', 'c', 'file'];
    const outside = join(made.home, 'memory');
    for (const root of [made.workspace, outside]) mkdirSync(join(root, 'a/b/c'), {recursive: true});
    writeFileSync(join(outside, 'a/b/c/file'), SECRET);
    rmSync(join(made.workspace, ...parts.slice(0, at + 1)), {recursive: true, force: true});
    symlinkSync(join(outside, ...parts.slice(0, at + 1)), join(made.workspace, ...parts.slice(0, at + 1)));
    expect(codes(await everywhere(made, 'a/b/c/file'))).toEqual(allOf('DENIED'));
    expect(readFileSync(join(outside, 'a/b/c/file'), 'utf8')).toBe(SECRET);
    expect(readdirSync(join(outside, 'a/b/c'))).toEqual(['file']);
    untouched(made.home);
  });

  it('a folder of workspaces that is a link is none', async () => {
    const made = guarded();
    renameSync(join(made.home, 'workspaces'), join(made.home, 'elsewhere'));
    symlinkSync('elsewhere', join(made.home, 'workspaces'));
    expect(codes(await everywhere(made, 'file'))).toEqual(allOf('DENIED'));
    expect(readdirSync(join(made.home, 'elsewhere/coder'))).toEqual(['sub']);
  });

  it('a workspace that is a link is none', async () => {
    const {run, home, workspace} = guarded();
    rmSync(workspace, {recursive: true});
    symlinkSync('other', workspace);
    expect(await run('read_file', {path: 'file'})).toMatchObject({code: 'DENIED'});
    expect(await run('write_file', {path: 'file', content: 'x'})).toMatchObject({code: 'DENIED'});
    untouched(home);
  });

  it('says where a link leads only within the workspace', async () => {
    const {run, home, workspace} = guarded();
    symlinkSync('sub', join(workspace, 'near'));
    symlinkSync(home, join(workspace, 'far'));
    expect(await run('read_file', {path: 'near'})).toMatchObject({error: expect.stringContaining('to sub')});
    expect(JSON.stringify(await run('read_file', {path: 'far'}))).not.toContain(home);
  });
});

describe('only regular files with one name', () => {
  it('a file with more than one hard link is not written', async () => {
    const {run, home, workspace} = guarded();
    linkSync(join(home, 'secret.txt'), join(workspace, 'hard'));
    expect(await run('write_file', {path: 'hard', content: 'x'})).toMatchObject({code: 'DENIED'});
    expect(await run('edit_file', {path: 'hard', old: 'secret', new: 'x'})).toMatchObject({code: 'DENIED'});
    untouched(home);
  });

  it.each(['allowlist.yaml', '.git/hooks/pre-commit', 'approvals/pending/1.approval.md', 'workspaces/other/file'])(
    'nor one that is also %s',
    async file => {
      const made = guarded();
      linkSync(join(made.home, file), join(made.workspace, 'hard'));
      const {read, grep, ...results} = await everywhere(made, 'hard');
      expect(codes(results)).toEqual({
        list: 'FAILED',
        glob: 'ok',
        write: 'DENIED',
        create: 'FAILED',
        edit: 'DENIED',
        folder: 'FAILED',
      });
      // Reading is no refusal: what else a file is called cannot be told, package managers link whole trees, and only who
      // could read the other name could make this one.
      expect([read?.success, grep?.success]).toEqual([true, true]);
      untouched(made.home);
    },
  );

  it('a huge file with nothing in it costs nothing', async () => {
    const made = guarded();
    writeFileSync(join(made.workspace, 'huge'), '');
    truncateSync(join(made.workspace, 'huge'), 2 ** 42);
    const {write, create, ...others} = codes(await everywhere(made, 'huge'));
    expect(others).toEqual({read: 'FAILED', list: 'FAILED', glob: 'ok', grep: 'ok', edit: 'FAILED', folder: 'FAILED'});
    expect([write, create]).toEqual(['ok', 'FAILED']);
    expect(lstatSync(join(made.workspace, 'huge')).size).toBe('overwritten'.length);
  });

  it("except that the other name is the daemon's own, left by a crash", async () => {
    const {run, workspace} = guarded();
    writeFileSync(join(workspace, 'a'), 'a');
    linkSync(join(workspace, 'a'), join(workspace, '.agentdir-0123456789abcdef.tmp'));
    expect(await run('glob', {pattern: '**'})).toEqual({success: true, files: ['a']});
    expect(await run('write_file', {path: 'a', content: 'b'})).toMatchObject({success: true});
    expect(readdirSync(workspace)).toEqual(['a', 'sub']);
  });

  it('pipes, sockets and devices are refused, at once', async () => {
    const made = guarded();
    const {workspace} = made;
    execFileSync('mkfifo', [join(workspace, 'pipe')]);
    const server = createServer().listen(join(workspace, 'socket'));
    await once(server, 'listening');
    const special = ['pipe', 'socket'];
    try {
      execFileSync('mknod', [join(workspace, 'device'), 'c', '1', '5'], {stdio: 'ignore'});
      special.push('device');
    } catch {
      // Not as root.
    }
    for (const path of special) {
      const {read, grep, write, create, edit} = await everywhere(made, path);
      for (const result of [read, grep, write, create, edit]) expect(result, path).toMatchObject({code: 'DENIED'});
    }
    expect(await made.run('grep', {pattern: 'x'})).toMatchObject({matches: 0});
    expect(await made.run('glob', {pattern: '**'})).toEqual({success: true, files: []});
    expect(lstatSync(join(workspace, 'pipe')).isFIFO()).toBe(true);
    server.close();
  });
});

describe('races', () => {
  /** As often as wanted, and until both came to pass: on a busy machine the other process may sleep for long. */
  function enough(often: boolean, {own, refused, end}: Seen): boolean {
    return (often && own > 0 && refused > 0) || performance.now() > end;
  }
  interface Seen {
    own: number;
    refused: number;
    end: number;
  }

  /** Another process that makes `dir` a folder, then a link out, as fast as it can. */
  const SWAP = `
    const fs = require('node:fs');
    const [at, out] = process.argv.slice(1);
    const make = () => {
      fs.rmSync(at + '/dir', {recursive: true, force: true});
      fs.mkdirSync(at + '/real', {recursive: true});
      fs.writeFileSync(at + '/real/file', 'mine');
      if (!fs.lstatSync(at + '/link', {throwIfNoEntry: false})) fs.symlinkSync(out, at + '/link');
    };
    make();
    process.stdout.write('ready');
    for (const end = Date.now() + 20000; Date.now() < end;) {
      try {
        for (const one of ['/real', '/link']) {
          fs.renameSync(at + one, at + '/dir');
          fs.renameSync(at + '/dir', at + one);
        }
      } catch {
        try { make(); } catch {}
      }
    }`;

  it.each([true, false])('a folder swapped with a link never leads out (descriptors: %s)', async descriptors => {
    const made = guarded();
    const {home, workspace, context, run} = made;
    const child = spawn(process.execPath, ['-e', SWAP, workspace, join(home, 'workspaces/other')]);
    await once(child.stdout, 'data');
    const seen: Seen = {own: 0, refused: 0, end: performance.now() + 15_000};
    const place = parseToolPath('dir/file');
    if (isFailure(place)) throw new Error(place.error);
    try {
      for (let i = 0; !enough(i >= 3000, seen); i++) {
        const folder = openFolder(context, place, ['dir'], {descriptors});
        if (isFailure(folder)) {
          seen.refused++;
          continue;
        }
        try {
          const file = openIn(folder, 'file');
          if (!file) throw new Error('not a file');
          const text = readFileSync(file.fd, 'utf8');
          closeSync(file.fd);
          expect(text).toBe('mine');
          seen.own++;
        } catch (error) {
          // Without descriptors: it was replaced, and that was seen.
          if ((error as NodeJS.ErrnoException).code === undefined) throw error;
          seen.refused++;
        } finally {
          closeFolder(folder);
        }
      }
      if (descriptors) {
        for (let i = 0; i < 100; i++) {
          expect(JSON.stringify(await run('read_file', {path: 'dir/file'}))).not.toContain(SECRET);
          expect(JSON.stringify(await run('grep', {pattern: 'secret'}))).not.toContain(SECRET);
          if (i % 10 === 0) await run('write_file', {path: 'dir/file', content: 'mine'});
        }
      }
    } finally {
      const exit = once(child, 'exit');
      if (child.kill('SIGKILL')) await exit;
    }
    expect(seen.refused).toBeGreaterThan(0);
    expect(seen.own).toBeGreaterThan(0);
    untouched(home);
  });

  /** Another process that makes `file` everything in turn, as fast as it can, and moves its folder about. */
  const CHANGE = `
    const fs = require('node:fs');
    const {execFileSync} = require('node:child_process');
    const [at, out] = process.argv.slice(1);
    const dir = at + '/dir', away = at + '/away', file = dir + '/file', next = at + '/next';
    fs.mkdirSync(dir);
    execFileSync('mkfifo', [at + '/pipe']);
    const steps = [
      () => { fs.writeFileSync(next, 'mine'); fs.renameSync(next, file); },
      () => { fs.symlinkSync(out + '/secret.txt', next); fs.renameSync(next, file); },
      () => { fs.writeFileSync(next, 'mine'); fs.renameSync(next, file); },
      () => { fs.linkSync(at + '/pipe', next); fs.renameSync(next, file); },
      () => { fs.unlinkSync(file); fs.mkdirSync(file); fs.rmdirSync(file); },
      () => { fs.renameSync(dir, away); fs.symlinkSync(out, dir); fs.unlinkSync(dir); fs.renameSync(away, dir); },
    ];
    process.stdout.write('ready');
    for (const end = Date.now() + 20000; Date.now() < end;)
      for (const step of steps) try { step(); } catch { try { fs.unlinkSync(next); } catch {} }`;

  it('a file that is everything in turn is read as ours or refused, a thousand times', async () => {
    const {home, workspace, run} = guarded();
    // The pipe has two names, and so would be refused for that alone; a file that is read may have them.
    const child = spawn(process.execPath, ['-e', CHANGE, workspace, home]);
    await once(child.stdout, 'data');
    const seen: Seen = {own: 0, refused: 0, end: performance.now() + 15_000};
    try {
      for (let i = 0; !enough(i >= 1000, seen); i++) {
        const result = await run('read_file', {path: 'dir/file'});
        expect(JSON.stringify(result)).not.toContain(SECRET);
        if (result.success) expect(result.content).toMatch(/mine|written/);
        else expect(result.code).toMatch(/^(DENIED|FAILED)$/);
        seen[result.success ? 'own' : 'refused']++;
        if (i % 10 === 0) await run('write_file', {path: 'dir/file', content: 'written'});
        if (i % 25 === 0) await run('edit_file', {path: 'dir/file', old: 'mine', new: 'written'});
        if (i % 25 === 5) await run('create_file', {path: 'dir/file', content: 'written'});
        if (i % 50 === 0) expect(JSON.stringify(await run('grep', {pattern: 'secret'}))).not.toContain(SECRET);
      }
    } finally {
      const exit = once(child, 'exit');
      if (child.kill('SIGKILL')) await exit;
    }
    expect(seen.own).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
    untouched(home);
  });

  it('a folder that was moved away is still the one that was opened', () => {
    const {context, workspace} = guarded();
    const place = parseToolPath('sub');
    if (isFailure(place)) throw new Error(place.error);
    const folder = openFolder(context, place);
    if (isFailure(folder)) throw new Error(folder.error);
    renameSync(join(workspace, 'sub'), join(workspace, 'moved'));
    symlinkSync('../other', join(workspace, 'sub'));
    writeFileSync(entryOf(folder, 'x'), '');
    closeFolder(folder);
    expect(existsSync(join(workspace, 'moved/x'))).toBe(true);
  });
});
