import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {beforeAll, describe, expect, it} from 'vitest';
import {environment, git, temporary} from '../cli/run.ts';
import {calling, command, resultsOf} from './calling.ts';
import {decideAsAsked} from './deciding.ts';
import {openHouse} from './house.ts';

const source = join(tmpdir(), `agentdir-source-${process.pid}`);
const AGENT = `id: talker
type: talker
system_prompt: You code.
workspace: {clone: "${source}", branch: work, git: own}
capabilities: [execute_command, write_file]
`;

/** An unsandboxed git must never run what the agent has put into its own repository. */
const house = openHouse(() => {
  mkdirSync(source, {recursive: true});
  const run = (...args: string[]) => execFileSync('git', args, {cwd: source, env: environment});
  run('init', '--quiet', '--initial-branch=main');
  writeFileSync(join(source, 'a.txt'), 'one\n');
  run('add', '.');
  run('commit', '--quiet', '--message=first');
  return {
    'templates/talker.agent.yaml': AGENT,
    'allowlist.yaml':
      'version: 1\ncommands: {allow: [{match: "git *", any_options: true}]}\ntools: {write_file: allow}\n',
  };
});

let sandboxed = true;
beforeAll(() => {
  try {
    execFileSync('bwrap', ['--version']);
  } catch {
    sandboxed = false;
    console.warn('SKIPPED: the own repository needs bubblewrap');
  }
});

const inWorkspace = (...args: string[]) => git(join(house.home, 'workspaces/talker'), ...args);

describe('a workspace with git: own', () => {
  it('lets the agent branch and commit on the history that was cloned, and leaves the journal as it is', async () => {
    if (!sandboxed) return;
    calling(
      house,
      'commits',
      [{name: 'write_file', arguments: {path: 'a.txt', content: 'two\n'}}],
      [
        command('git log --format=%s'),
        command('git switch -c topic'),
        command('git commit --all --message=second'),
        command('git log --format=%s topic'),
        command('git status --porcelain'),
      ],
    );
    const [, before, ...rest] = await resultsOf(house, 'commits');
    expect(before).toMatchObject({success: true, stdout: 'first\n', ran: 'sandbox'});
    expect(
      rest.map(({success}) => success),
      JSON.stringify(rest),
    ).toEqual([true, true, true, true]);
    expect(rest[2]?.stdout).toBe('second\nfirst\n');
    expect(rest[3]?.stdout).toBe('');
    // Outside the sandbox the same folder has the journal: one commit for the call that changed a file, on its own branch.
    expect((await inWorkspace('log', '--format=%s', '-1')).trim()).toContain('write_file');
    expect(await inWorkspace('branch', '--list', 'topic')).toBe('');
    expect((await inWorkspace('branch', '--show-current')).trim()).toBe('work');
  });

  it('runs none of its hooks and settings, neither for the daemon nor for a person in the workspace', async () => {
    if (!sandboxed) return;
    const canary = join(temporary(), 'canary');
    const own = join(house.home, '.workspaces/own/talker.git');
    const hook = `#!/bin/sh\necho evil > ${canary}\n`;
    calling(house, 'hooks', [
      {name: 'write_file', arguments: {path: 'hook', content: hook}},
      command('chmod +x hook'),
      command('cp hook "$(git rev-parse --git-dir)/hooks/post-commit"'),
      command(`git config core.fsmonitor "touch ${canary}"`),
      command(`git config filter.x.clean "touch ${canary}; cat"`),
      command('echo "* filter=x" > .gitattributes'),
      command('git -c core.fsmonitor= commit --allow-empty --message=hooked'),
      {name: 'write_file', arguments: {path: 'a.txt', content: 'three\n'}},
    ]);
    await decideAsAsked(house.home, 'hooks');
    const results = await resultsOf(house, 'hooks');
    expect(
      results.map(({success}) => success),
      JSON.stringify(results),
    ).toEqual(results.map(() => true));
    expect(readFileSync(join(own, 'config'), 'utf8')).toContain('fsmonitor');
    expect(existsSync(join(own, 'hooks/post-commit'))).toBe(true);
    // A person's own git in the workspace.
    await inWorkspace('status');
    await inWorkspace('add', '--all');
    await inWorkspace('commit', '--quiet', '--allow-empty', '--message=by a person');
    expect(existsSync(canary)).toBe(false);
    // What the agent has committed comes out as data.
    calling(house, 'bundle', [command('git bundle create out.bundle topic')]);
    await decideAsAsked(house.home, 'bundle');
    await resultsOf(house, 'bundle');
    const mine = temporary();
    await git(mine, 'clone', '--quiet', source, 'mine');
    await git(join(mine, 'mine'), 'fetch', '--quiet', join(house.home, 'workspaces/talker/out.bundle'), 'topic:topic');
    expect(await git(join(mine, 'mine'), 'log', '--format=%s', 'topic')).toContain('second\nfirst\n');
    expect(existsSync(canary)).toBe(false);
  });

  it('asks again about a git command when its hooks have changed since it was asked', async () => {
    if (!sandboxed) return;
    const {ownRepositoryState} = await import('../../src/effects/workspace/own-repository.ts');
    const before = ownRepositoryState(house.home, 'talker');
    expect(ownRepositoryState(house.home, 'talker')).toBe(before);
    writeFileSync(join(house.home, '.workspaces/own/talker.git/hooks/pre-push'), '#!/bin/sh\n');
    expect(ownRepositoryState(house.home, 'talker')).not.toBe(before);
  });
});
