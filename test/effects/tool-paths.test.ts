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
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {isFailure} from '../../src/effects/tools/failure.ts';
import {closeFolder, entryOf, openFolder} from '../../src/effects/workspace/folder.ts';
import {isGitName} from '../../src/effects/workspace/git-name.ts';
import {openIn} from '../../src/effects/workspace/open-file.ts';
import {placeOf} from '../../src/effects/workspace/place.ts';
import {type ToolHome, toolHome} from './tool-home.ts';

const SECRET = 'the secret of somebody else';

/** Every way in, with the same path. */
async function everywhere({run}: ToolHome, path: string) {
  return {
    read: await run('read_file', {path}),
    list: await run('list_directory', {path}),
    glob: await run('glob', {pattern: '**', path}),
    grep: await run('grep', {pattern: 'secret', path}),
    write: await run('write_file', {path, content: 'overwritten'}),
    create: await run('create_file', {path, content: 'created'}),
    edit: await run('edit_file', {path, old: 'secret', new: 'stolen'}),
    folder: await run('create_directory', {path}),
  };
}

/** A home with something to steal beside the workspace. */
function guarded(): ToolHome {
  const made = toolHome();
  const {home, workspace} = made;
  writeFileSync(join(home, 'secret.txt'), SECRET);
  writeFileSync(join(home, 'allowlist.yaml'), SECRET);
  mkdirSync(join(home, 'workspaces/other'));
  writeFileSync(join(home, 'workspaces/other/file'), SECRET);
  mkdirSync(join(workspace, 'sub'));
  return made;
}

function untouched(home: string): void {
  for (const file of ['secret.txt', 'allowlist.yaml', 'workspaces/other/file'])
    expect(readFileSync(join(home, file), 'utf8')).toBe(SECRET);
  expect(readdirSync(home).sort()).toEqual(['allowlist.yaml', 'memory', 'secret.txt', 'tasks', 'workspaces']);
  expect(readdirSync(join(home, 'workspaces')).sort()).toEqual(['coder', 'other']);
}

describe('no path leads out of the workspace', () => {
  it.each([
    '../other/file',
    '..',
    'sub/../../other/file',
    'sub/..',
    './../other',
    '../../secret.txt',
    '../../allowlist.yaml',
    'memory/../secret.txt',
    'tasks/../../secret.txt',
    './memory/../../../secret.txt',
    '/etc/passwd',
    '//etc/passwd',
    '/proc/self/environ',
    '/proc/self/cwd',
    '/dev/null',
    '/dev/stdin',
    '~/.ssh/id_rsa',
    '~root/x',
    'C:\\Windows\\x',
    'c:/windows/x',
    '\\\\server\\share',
    '\\etc',
  ])('%s', async path => {
    const made = guarded();
    for (const [how, result] of Object.entries(await everywhere(made, path))) {
      expect(result, how).toMatchObject({success: false, code: 'DENIED'});
      expect(JSON.stringify(result)).not.toContain(SECRET);
    }
    untouched(made.home);
  });

  it('of the home only memory and tasks are read, and nothing is written', async () => {
    const made = guarded();
    writeFileSync(join(made.home, 'memory/m.md'), SECRET);
    for (const path of ['memory/m.md', 'memory', 'memory/new.md', 'tasks/approvals.task.md', 'memory//./m.md']) {
      const {write, create, edit, folder} = await everywhere(made, path);
      for (const result of [write, create, edit, folder]) expect(result).toMatchObject({code: 'DENIED'});
    }
    expect(readFileSync(join(made.home, 'memory/m.md'), 'utf8')).toBe(SECRET);
    expect(readdirSync(join(made.home, 'tasks'))).toEqual([]);
    for (const path of [
      'allowlist.yaml',
      'templates/x',
      'approvals/x',
      'workspaces/other/file',
      'agentdir.yaml',
      'Memory/x',
    ])
      expect(await made.run('read_file', {path})).toMatchObject({code: 'FAILED'});
    expect(await made.run('glob', {pattern: '../*'})).toMatchObject({code: 'DENIED'});
    expect(await made.run('glob', {pattern: '*/../../*'})).toMatchObject({code: 'DENIED'});
    expect(await made.run('glob', {pattern: '/etc/*'})).toMatchObject({code: 'DENIED'});
    expect(await made.run('glob', {pattern: '{..,sub}/*'})).toEqual({success: true, files: []});
  });

  it('agents of odd names have no workspace', async () => {
    for (const agent of ['..', '.', '', 'a/b', '../other', 'a@../other', '@x', '.git', 'a\0b', 'a@b@c']) {
      const {run, home} = toolHome({agent});
      expect(await run('create_file', {path: 'x', content: ''}), agent).toMatchObject({code: 'FAILED'});
      expect(readdirSync(join(home, 'workspaces'))).toEqual(['coder']);
    }
  });

  it.each([
    ['NUL', 'a\0b', 'INVALID_ARGUMENTS'],
    ['NUL before an ending', '../secret.txt\0.md', 'INVALID_ARGUMENTS'],
    ['half a character', 'a\ud800', 'INVALID_ARGUMENTS'],
    ['a very long name', 'x'.repeat(256), 'INVALID_ARGUMENTS'],
    ['a very long name of few characters', '€'.repeat(100), 'INVALID_ARGUMENTS'],
    ['a very long path', 'x/'.repeat(3000), 'INVALID_ARGUMENTS'],
    ['a very deep path', 'x/'.repeat(100), 'INVALID_ARGUMENTS'],
  ])('%s is not a path', async (_, path, code) => {
    const made = guarded();
    for (const result of Object.values(await everywhere(made, path)))
      expect(result).toMatchObject({success: false, code});
    untouched(made.home);
  });

  it('new names have no control characters', async () => {
    const {run, workspace} = toolHome();
    expect(await run('write_file', {path: 'a\nb', content: ''})).toMatchObject({code: 'INVALID_ARGUMENTS'});
    expect(await run('create_directory', {path: 'a\u001b[31m'})).toMatchObject({code: 'INVALID_ARGUMENTS'});
    expect(readdirSync(workspace)).toEqual([]);
  });
});

describe('links are not followed', () => {
  const links: [string, (made: ToolHome) => void, string][] = [
    ['to a file outside', m => symlinkSync(join(m.home, 'secret.txt'), join(m.workspace, 'l')), 'l'],
    ['to a file outside, relative', m => symlinkSync('../../secret.txt', join(m.workspace, 'l')), 'l'],
    ['to the home', m => symlinkSync(m.home, join(m.workspace, 'l')), 'l/secret.txt'],
    ['to another workspace', m => symlinkSync('../other', join(m.workspace, 'l')), 'l/file'],
    ['to a folder, with a slash', m => symlinkSync('../other', join(m.workspace, 'l')), 'l/'],
    ['to /proc', m => symlinkSync('/proc/self', join(m.workspace, 'l')), 'l/environ'],
    ['to nothing', m => symlinkSync('../../new.txt', join(m.workspace, 'l')), 'l'],
    ['in the midst', m => symlinkSync('../../other', join(m.workspace, 'sub/l')), 'sub/l/file'],
    ['in a circle', m => symlinkSync('l', join(m.workspace, 'l')), 'l'],
    ['in memory', m => symlinkSync('../secret.txt', join(m.home, 'memory/l')), 'memory/l'],
  ];

  it.each(links)('%s', async (_, make, path) => {
    const made = guarded();
    make(made);
    for (const [how, result] of Object.entries(await everywhere(made, path))) {
      expect(JSON.stringify(result)).not.toContain(SECRET);
      expect(result, how).toMatchObject({success: false, code: 'DENIED'});
    }
    untouched(made.home);
    expect(JSON.stringify(await made.run('grep', {pattern: 'secret'}))).not.toContain(SECRET);
    expect(await made.run('glob', {pattern: '**'})).toEqual({success: true, files: []});
    expect(JSON.stringify(await made.run('list_directory', {recursive: true}))).not.toContain('file');
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

describe('.git in every spelling', () => {
  const spellings = [
    '.git',
    '.GIT',
    '.Git',
    '.gIt',
    '.git.',
    '.git...',
    '.git ',
    '.git . .',
    '.git::$INDEX_ALLOCATION',
    '.git:stream',
    'git~1',
    'GIT~1',
    'git~2',
    '.g\u200cit',
    '.gi\u200dt',
    '\u200e.git',
    '.git\ufeff',
    '.g\u00adit',
    '\u2060.git',
    '.\uff47\uff49\uff54',
    '\uff0egit',
    '\u2024git',
    '.gi\u0301t',
    '.g\u{e0001}it',
    '.g\ufe0fit',
    '.\u{1d420}it',
    'sub\\.git',
    '.git\\config',
    '.git\u007f',
  ];

  it.each(spellings)('%j', async spelling => {
    expect(isGitName(spelling)).toBe(true);
    const made = guarded();
    for (const path of [`${spelling}/config`, `sub/${spelling}/hooks/pre-commit`, spelling]) {
      for (const result of Object.values(await everywhere(made, path))) expect(result.success).toBe(false);
      expect(await made.run('write_file', {path, content: 'x'})).not.toMatchObject({code: 'FAILED'});
    }
    expect(readdirSync(made.workspace)).toEqual(['sub']);
    expect(readdirSync(join(made.workspace, 'sub'))).toEqual([]);
  });

  it('but not what only begins like it', () => {
    for (const name of ['.gitignore', '.gitattributes', 'git', '.github', 'x.git', 'git~', 'legit', '.g', '..git'])
      expect(isGitName(name), name).toBe(false);
  });

  it('is not seen in lists and searches', async () => {
    const {run, workspace} = guarded();
    mkdirSync(join(workspace, '.git/hooks'), {recursive: true});
    writeFileSync(join(workspace, '.git/config'), 'secret');
    mkdirSync(join(workspace, 'sub/.GIT'));
    writeFileSync(join(workspace, 'sub/.GIT/config'), 'secret');
    expect(await run('list_directory', {recursive: true})).toMatchObject({entries: [{name: 'sub/'}]});
    expect(await run('grep', {pattern: 'secret'})).toMatchObject({matches: 0});
    expect(await run('glob', {pattern: '**/config'})).toMatchObject({files: []});
    expect(await run('glob', {pattern: '.git/*'})).toMatchObject({code: 'DENIED'});
  });
});

describe('races', () => {
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
    for (const end = Date.now() + 5000; Date.now() < end;) {
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
    const seen = {own: 0, refused: 0};
    const place = placeOf('dir/file');
    if (isFailure(place)) throw new Error(place.error);
    try {
      for (const end = performance.now() + 300; performance.now() < end; ) {
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

  it('a folder that was moved away is still the one that was opened', () => {
    const {context, workspace} = guarded();
    const place = placeOf('sub');
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

describe('any path at all', () => {
  const part = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '',
      'sub',
      'out',
      'memory',
      'tasks',
      '.git',
      'etc',
      'proc',
      '~',
      '\\',
      'other',
      'secret.txt',
    ),
    fc.string({maxLength: 6}),
  );

  it('reads no secret, writes nothing outside, and leaves nothing open', async () => {
    const made = guarded();
    await made.run('grep', {pattern: '(warm|up)'});
    const open = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
    const before = open();
    symlinkSync(made.home, join(made.workspace, 'out'));
    await fc.assert(
      fc.asyncProperty(fc.array(part, {minLength: 1, maxLength: 6}), async parts => {
        const path = parts.join('/') || '.';
        for (const [name, args] of [
          ['read_file', {path}],
          ['write_file', {path, content: 'x'}],
          ['create_directory', {path}],
          ['edit_file', {path, old: 'x', new: 'y'}],
          ['list_directory', {path, recursive: true}],
          ['grep', {path, pattern: '(s|x)'}],
          ['glob', {path, pattern: '**'}],
        ] as const)
          expect(JSON.stringify(await made.run(name, args))).not.toContain(SECRET);
      }),
      {numRuns: 150},
    );
    untouched(made.home);
    // The test runner opens some of its own.
    expect(open()).toBeLessThan(before + 10);
  });
});
