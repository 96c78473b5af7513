import {spawnSync} from 'node:child_process';
import {existsSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {cleanEnvironment, cleanGit} from '../../src/effects/workspace/clean-git.ts';
import {forgetHistory} from '../../src/effects/workspace/history.ts';
import {diffText, readChanges} from '../../src/effects/workspace/read-history.ts';
import {openWorkspace} from '../../src/effects/workspace/repository.ts';
import {uncommitted} from '../../src/effects/workspace/uncommitted.ts';
import {undoCommit} from '../../src/effects/workspace/undo.ts';
import {put} from '../cli/run.ts';
import {newWorkspace, type TestWorkspace} from '../effects/workspace-home.ts';

/**
 * What a command outside the sandbox could leave in the git-dir of a workspace, which the agent itself cannot write, and
 * a git command that falls for it. `environment`: what the daemon was started with.
 */
interface Trick {
  config?: string;
  files?: Record<string, string>;
  environment?: Record<string, string>;
  args: readonly string[];
}

interface Scene extends TestWorkspace {
  touch: string;
  ran: () => boolean;
}

async function newScene(): Promise<Scene> {
  const w = await newWorkspace();
  const [canary, touch] = [join(w.home, 'canary'), join(w.home, 'touch.sh')];
  writeFileSync(touch, `#!/bin/sh\n: > '${canary}'\n`, {mode: 0o755});
  await w.call('one', () => w.put({'base.txt': 'one\n'}));
  await w.call('two', () => w.put({'base.txt': 'two\n'}));
  return {...w, touch, ran: () => existsSync(canary)};
}

const HOOKS = ['post-index-change', 'reference-transaction', 'post-checkout', 'pre-commit', 'post-commit'];
const move = ['update-ref', 'refs/heads/other', 'HEAD'];
const show = ['diff', 'HEAD~', 'HEAD', '--'];
const clean = ['hash-object', '--path=base.txt', '--stdin'];
const filter = '* filter=x\n';

const tricks: Record<string, (w: Scene) => Trick> = {
  hooks: ({touch}) => ({
    files: Object.fromEntries(HOOKS.map(name => [`hooks/${name}`, `#!/bin/sh\nexec ${touch}\n`])),
    args: move,
  }),
  'core.hooksPath': ({touch, dir}) => ({
    config: `[core]\n\thooksPath = ${dir}/hooks\n`,
    files: Object.fromEntries(
      HOOKS.map(name => [`../../workspaces/coder/hooks/${name}`, `#!/bin/sh\nexec ${touch}\n`]),
    ),
    args: move,
  }),
  'core.fsmonitor': ({touch, dir}) => ({
    config: `[core]\n\tfsmonitor = ${touch}\n`,
    args: [`--work-tree=${dir}`, 'status'],
  }),
  'core.attributesFile and a filter': ({touch, gitDir}) => ({
    config: `[core]\n\tattributesFile = ${gitDir}/evil\n[filter "x"]\n\tclean = ${touch}\n\tsmudge = ${touch}\n`,
    files: {evil: filter},
    args: clean,
  }),
  'diff.external': ({touch}) => ({config: `[diff]\n\texternal = ${touch}\n`, args: show}),
  'include.path': ({touch, gitDir, dir}) => ({
    config: `[include]\n\tpath = ${gitDir}/evil\n`,
    files: {evil: `[core]\n\tfsmonitor = ${touch}\n`},
    args: [`--work-tree=${dir}`, 'status'],
  }),
  'a remote that is a command': ({touch}) => ({
    config: `[remote "origin"]\n\turl = ext::${touch}\n[protocol "ext"]\n\tallow = always\n`,
    args: ['fetch', 'origin'],
  }),
  'GIT_CONFIG_COUNT of the daemon': ({touch}) => ({
    files: {'info/attributes': filter},
    environment: {GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'filter.x.clean', GIT_CONFIG_VALUE_0: touch},
    args: clean,
  }),
  'GIT_CONFIG_PARAMETERS of the daemon': ({touch}) => ({
    files: {'info/attributes': filter},
    environment: {GIT_CONFIG_PARAMETERS: `'filter.x.clean'='${touch}'`},
    args: clean,
  }),
  'GIT_CONFIG_GLOBAL of the daemon': ({touch, gitDir}) => ({
    files: {'info/attributes': filter, evil: `[filter "x"]\n\tclean = ${touch}\n`},
    environment: {GIT_CONFIG_GLOBAL: `${gitDir}/evil`},
    args: clean,
  }),
  'GIT_CONFIG_SYSTEM of the daemon': ({touch, gitDir}) => ({
    files: {'info/attributes': filter, evil: `[filter "x"]\n\tclean = ${touch}\n`},
    environment: {GIT_CONFIG_SYSTEM: `${gitDir}/evil`, GIT_CONFIG_NOSYSTEM: '0'},
    args: clean,
  }),
  'GIT_EXTERNAL_DIFF of the daemon': ({touch}) => ({environment: {GIT_EXTERNAL_DIFF: touch}, args: show}),
};

/** As a command outside the sandbox would. */
function plant(w: Scene, {config = '', files = {}}: Trick): void {
  rmSync(join(w.gitDir, 'info/attributes'));
  put(w.gitDir, {config: `[core]\n\trepositoryformatversion = 0\n${config}`, ...files});
  const hooks = Object.keys(files).filter(path => path.includes('hooks/'));
  if (hooks.length > 0) spawnSync('chmod', ['+x', ...hooks], {cwd: w.gitDir});
}

/** Everything that the daemon and a person's commands do with a history. */
async function useHistory(w: Scene): Promise<void> {
  await w.call('three', () => w.put({'base.txt': 'three\n', 'new.txt': 'new\n'}));
  writeFileSync(join(w.dir, 'base.txt'), 'later\n');
  const open = await uncommitted(w);
  expect(await diffText(w.gitDir, open.from, open.to)).toContain('+later');
  forgetHistory(w);
  // An index that somebody spoiled is mended.
  writeFileSync(join(w.gitDir, 'index'), 'DIRC');
  expect(await openWorkspace(w)).not.toHaveProperty('success');
  await w.call('four', () => w.put({'base.txt': 'four\n'}));
  const three = (await readChanges(w.gitDir)).find(({call}) => call === 'three');
  await undoCommit(w, () => three ?? raise());
}

function raise(): never {
  throw new Error('no such call');
}

/** With this in the environment of the process; whether something ran. */
async function within(environment: Record<string, string>, work: () => Promise<unknown>): Promise<void> {
  const before = {...process.env};
  Object.assign(process.env, environment);
  try {
    await work();
  } finally {
    for (const name of Object.keys(environment)) {
      delete process.env[name];
      if (before[name] !== undefined) process.env[name] = before[name];
    }
  }
}

describe('what was laid into the git-dir of a workspace, or the daemon was started with, runs nothing', () => {
  it.each(Object.entries(tricks))('%s', async (_name, trickOf) => {
    const w = await newScene();
    const trick = trickOf(w);
    const {args, environment = {}} = trick;
    plant(w, trick);
    await within(environment, () => cleanGit(w.gitDir, args));
    expect(w.ran(), 'by a git that would fall for it').toBe(false);
    await within(environment, () => useHistory(w));
    expect(w.ran(), 'by what is done with a history').toBe(false);
    // The trick is worth the name: without our options and environment it does run.
    plant(w, trick);
    const {GIT_ALLOW_PROTOCOL: _, GIT_NO_LAZY_FETCH: __, ...open} = cleanEnvironment();
    const careless = {...open, ...environment};
    spawnSync('git', ['--git-dir=.', ...args], {cwd: w.gitDir, env: careless, input: ''});
    expect(w.ran(), 'by a careless git').toBe(true);
  });
});
