import {existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {isGitName} from '../../src/effects/workspace/git-name.ts';
import {runs} from '../arbitrary.ts';
import {toolHome} from '../effects/tool-home.ts';
import {allOf, codes, everywhere, guarded, SECRET, untouched} from './guarded-home.ts';

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
    '/',
    './../../../../../../etc/passwd',
    'sub/../../../.git/config',
    'sub/./../../../approvals/pending/1.approval.md',
    'sub//..//..//other//file',
    '../coder/../other/file',
    '../../templates/coder.agent.yaml',
    '../../.workspaces/coder.git/config',
    '../../.agentdir/lock',
    '../../agentdir.yaml',
    '/proc/self/root/etc/passwd',
    '/proc/self/fd/0',
    '/proc/thread-self/cwd/x',
    '/dev/fd/0',
    '/dev/tty',
    '/sys/kernel',
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
    expect(codes(await everywhere(made, path))).toEqual(allOf('DENIED'));
    untouched(made.home);
  });

  it.each([
    ['one dot leader', '\u2024\u2024/x'],
    ['two dot leader', '\u2025/x'],
    ['an ellipsis', '\u2026/x'],
    ['full width dots', '\uff0e\uff0e/x'],
    ['a full width slash', '..\uff0fx'],
    ['a division slash', '..\u2215x'],
    ['a fraction slash', '..\u2044x'],
    ['dots with nothing between', '.\u200b./x'],
    ['dots with a joiner between', '.\u200d./x'],
    ['dots written backwards', '\u202e../x'],
    ['combining marks', '.\u0307./x'],
    ['URL encoding', '%2e%2e/x'],
    ['URL encoding of the slash', '..%2fx'],
    ['overlong URL encoding', '..%c0%afx'],
    ['backslashes', '..\\..\\x'],
    ['a semicolon', '..;/x'],
    ['a trailing space', '.. /x'],
    ['three dots', '.../x'],
    ['four dots', '....//x'],
    ['a dollar', '$HOME/x'],
    ['braces', '{..,x}/x'],
    ['a tilde further on', 'a/~/x'],
    ['a dash', '-rf/x'],
    ['a name of the policy', 'allowlist.yaml'],
    ['a name of an approval', 'approvals/pending/1.approval.md'],
    ['a name of a template', 'templates/coder.agent.yaml'],
    ['a name of a session', 'sessions/coder-1.session.yaml'],
    ['a name of another workspace', 'workspaces/other/file'],
    ['a name of the git directories', '.workspaces/coder.git/config'],
    ['a name of the daemon', '.agentdir/lock'],
  ])('what only looks like a way out stays inside: %s', async (_, path) => {
    const made = guarded();
    expect(await made.run('read_file', {path})).toMatchObject({success: false, code: 'FAILED'});
    expect(await made.run('write_file', {path, content: 'mine'})).toMatchObject({success: true});
    const parts = path.split('/').filter(part => part !== '');
    expect(readFileSync(join(made.workspace, ...parts), 'utf8')).toBe('mine');
    untouched(made.home);
  });

  const noFile = {write: 'INVALID_ARGUMENTS', create: 'INVALID_ARGUMENTS', edit: 'INVALID_ARGUMENTS'};
  it.each([
    ['a slash after a file', 'plain/', {...allOf('FAILED'), ...noFile, read: 'ok', glob: 'ok', grep: 'ok'}],
    ['a path below a file', 'plain/x', {...allOf('FAILED'), glob: 'ok'}],
    ['a directory', 'sub', {...allOf('FAILED'), list: 'ok', glob: 'ok', grep: 'ok', folder: 'ok'}],
    [
      'a directory with slashes',
      'sub///',
      {...allOf('FAILED'), ...noFile, list: 'ok', glob: 'ok', grep: 'ok', folder: 'ok'},
    ],
    ['the workspace', '.', {...allOf('FAILED'), list: 'ok', glob: 'ok', grep: 'ok', folder: 'ok'}],
    ['nothing', '', allOf('INVALID_ARGUMENTS')],
  ])('%s', async (_, path, expected) => {
    const made = guarded();
    writeFileSync(join(made.workspace, 'plain'), 'text');
    expect(codes(await everywhere(made, path))).toEqual(expected);
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
    './.git',
    'sub/./.git/',
    '.git//objects',
    'memory/.git',
    'GIT~1.',
    '.git~1',
    '.g\u0130t',
    '.git\\config',
    '.git\u007f',
  ];

  it.each(spellings)('%j', async spelling => {
    expect(spelling.split('/').some(isGitName)).toBe(true);
    const made = guarded();
    for (const path of [`${spelling}/config`, `sub/${spelling}/hooks/pre-commit`, spelling]) {
      const bad = 'INVALID_ARGUMENTS';
      const control = /\p{Cc}/u.test(path) ? {write: bad, create: bad, edit: bad, folder: bad} : {};
      expect(codes(await everywhere(made, path)), path).toEqual({...allOf('DENIED'), ...control});
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
      runs(150),
    );
    untouched(made.home);
    // The test runner opens some of its own.
    expect(open()).toBeLessThan(before + 10);
  });
});
