import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {environment} from '../../src/effects/sandbox/environment.ts';
import {type SandboxHome, sandboxHome, say} from './sandbox-home.ts';

const author = {GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b'};

function git(cwd: string, env: Record<string, string>, args: readonly string[], input = '') {
  return spawnSync('git', args, {cwd, env: {PATH: process.env.PATH, ...env}, encoding: 'utf8', input});
}

/** A repository as an agent may lay it out: a changed file, and a configuration of its own. */
function planted(place: SandboxHome, config: (touch: string) => string): {folder: string; touched: () => boolean} {
  const folder = place.workspace;
  const evidence = join(folder, 'ran');
  git(folder, author, ['init', '-q']);
  writeFileSync(join(folder, 'file'), 'one\n');
  git(folder, author, ['add', 'file']);
  git(folder, author, ['commit', '-qm', 'one']);
  writeFileSync(join(folder, 'file'), 'two\n');
  const script = join(folder, 'touch.sh');
  writeFileSync(script, `#!/bin/sh\n: > '${evidence}'\n`, {mode: 0o755});
  mkdirSync(join(folder, '.git/hooks'), {recursive: true});
  for (const hook of ['pre-commit', 'post-index-change', 'post-checkout', 'reference-transaction'])
    writeFileSync(join(folder, '.git/hooks', hook), `#!/bin/sh\n: > '${evidence}'\n`, {mode: 0o755});
  writeFileSync(join(folder, '.git/config'), `[core]\n\trepositoryformatversion = 0\n${config(script)}`, {flag: 'a'});
  return {folder, touched: () => existsSync(evidence)};
}

/** Configuration that makes git run a program, and the command that does. */
const traps: Record<string, {config: (touch: string) => string; args: string[]; input?: string}> = {
  fsmonitor: {config: touch => `\tfsmonitor = ${touch}\n`, args: ['status']},
  hooks: {config: () => '', args: ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', 'two']},
  'hooks elsewhere': {
    config: () => `\thooksPath = .git/hooks\n`,
    args: ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', 'two'],
  },
  editor: {
    config: touch => `\teditor = ${touch}\n`,
    args: ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-a'],
  },
  'ssh command': {config: touch => `\tsshCommand = ${touch}\n`, args: ['ls-remote', 'ssh://127.0.0.1:1/x']},
  'credential helper': {
    config: touch => `[credential]\n\thelper = ${touch}\n`,
    args: ['credential', 'reject'],
    input: 'url=https://ada:x@127.0.0.1/',
  },
  'ext protocol': {
    config: touch => `[protocol "ext"]\n\tallow = always\n[remote "x"]\n\turl = ext::${touch}\n`,
    args: ['ls-remote', 'x'],
  },
};

describe('git in a repository that an agent laid out, outside the sandbox', () => {
  it.each(Object.entries(traps))('does not run its %s', async (_, {config, args, input = ''}) => {
    const bare = planted(sandboxHome(), config);
    git(bare.folder, {...author, HOME: '/', GIT_TERMINAL_PROMPT: '0'}, args, `${input}\n\n`);
    expect(bare.touched(), 'it is a trap').toBe(true);
    const place = sandboxHome();
    const {touched} = planted(place, config);
    const said = await say(place, ['printf', `${input}\\n\\n`, '|', 'git', ...args], {confined: false});
    expect(said.how).toBe('ended');
    expect(touched()).toBe(false);
  });

  it('takes no folder of plain files for a repository', async () => {
    const place = sandboxHome();
    for (const folder of ['objects', 'refs']) mkdirSync(join(place.workspace, folder));
    writeFileSync(join(place.workspace, 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(
      join(place.workspace, 'config'),
      `[core]\n\tworktree = .\n\tfsmonitor = "touch ${place.workspace}/ran"\n`,
    );
    const said = await say(place, ['git', 'status'], {confined: false});
    expect(said.stderr).toContain('safe.bareRepository');
    expect(existsSync(join(place.workspace, 'ran'))).toBe(false);
  });

  it('does not look for a repository above the workspace', async () => {
    const place = sandboxHome();
    git(place.home, author, ['init', '-q']);
    const said = await say(place, ['git', 'rev-parse', '--git-dir'], {confined: false});
    expect(said).toMatchObject({exitCode: 128, stderr: expect.stringContaining('not a git repository')});
  });

  it('works as usual', async () => {
    const place = sandboxHome();
    planted(place, () => '');
    const said = await say(
      place,
      ['git', 'status', '--short', ';', 'git', 'log', '--format=%s', ';', 'git', 'diff', '--stat'],
      {confined: false},
    );
    expect(said).toMatchObject({exitCode: 0, stderr: ''});
    expect(said.stdout).toContain(' M file\n');
    expect(said.stdout).toContain('one\n');
    expect(said.stdout).toContain('1 file changed');
  });
});

describe('the environment of a call', () => {
  const call = {workspace: '/home/w/workspaces/a', mark: 'm'};

  it('has nothing of the daemon that is not named', () => {
    const names = /^(PATH|LANG|TERM|NO_COLOR|AGENTDIR_CALL|HOME|TMPDIR|USER|LOGNAME|XDG_RUNTIME_DIR|GIT_[A-Z0-9_]+)$/;
    for (const confined of [true, false])
      for (const [name, value] of Object.entries(environment({...call, confined}))) {
        expect(name).toMatch(names);
        if (name !== 'HOME') expect(value).not.toContain('\n');
      }
  });

  it("is private in the sandbox, and the user's own on the host", () => {
    expect(environment({...call, confined: true})).toMatchObject({
      HOME: '/tmp/home',
      TMPDIR: '/tmp',
      AGENTDIR_CALL: 'm',
    });
    expect(environment({...call, confined: false}).HOME).not.toBe('/tmp/home');
  });
});
