import {spawnSync} from 'node:child_process';
import {chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {describe, expect, it, onTestFinished} from 'vitest';
import {makeSandbox} from '../../src/effects/sandbox/sandbox.ts';
import {hasFilter} from '../../src/effects/sandbox/seccomp.ts';
import {root, thorough} from '../cli/run.ts';
import {noBubblewrap, sandboxHome} from './sandbox-home.ts';

describe.skipIf(noBubblewrap)(`the self-test ${noBubblewrap ?? ''}`, () => {
  it('holds here, and leaves nothing in the home', async () => {
    const {home} = sandboxHome();
    const sandbox = makeSandbox(home);
    const state = await sandbox.state();
    expect(state).toEqual({state: 'works', version: expect.stringMatching(/^\d+\.\d+/)});
    expect(readdirSync(join(home, '.agentdir'))).toEqual(['state']);
    expect(await sandbox.state()).toBe(state);
  });

  it('a home that is not there is a value', async () => {
    expect(await makeSandbox(join(tmpdir(), 'agentdir-no-home')).state()).toMatchObject({
      state: 'broken',
      why: expect.any(String),
    });
  });

  it.skipIf(process.getuid?.() !== 0)('holds for a plain user as well, who can do no more', () => {
    const home = mkdtempSync(join(tmpdir(), 'agentdir-plain-'));
    onTestFinished(() => rmSync(home, {recursive: true, force: true}));
    const module = pathToFileURL(join(root, 'dist/effects/sandbox/sandbox.js')).href;
    const script = `
      import {chownSync} from 'node:fs';
      chownSync(${JSON.stringify(home)}, 65534, 65534);
      const {makeSandbox} = await import(${JSON.stringify(module)});
      process.setgroups([]); process.setgid(65534); process.setuid(65534);
      console.log(JSON.stringify(await makeSandbox(${JSON.stringify(home)}).state()));
    `;
    const said = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: {PATH: process.env.PATH},
    });
    expect(said.stderr).toBe('');
    expect(JSON.parse(said.stdout)).toMatchObject({state: 'works'});
  });

  it.skipIf(process.getuid?.() !== 0).each([0o755, 0o700])(
    'says whose the workspaces are where they are not its own, home %o',
    async mode => {
      const {home, workspace} = sandboxHome();
      for (const path of [workspace, join(home, 'workspaces/bob'), join(home, 'workspaces'), home])
        chownSync(path, 65534, 65534);
      chmodSync(home, mode);
      expect(await makeSandbox(home).state()).toEqual({
        state: 'broken',
        why: expect.stringMatching(/^the .* belongs to another user than the daemon's: uid 65534$/),
        hint: expect.stringContaining('chown'),
      });
    },
  );
});

/** The verdict on a home whose bubblewrap is this script; `--version` is answered before it. */
function verdictOn(script: string, version = 'echo bubblewrap 0.8.0; exit'): Record<string, string> {
  const {home} = sandboxHome();
  const file = join(home, 'bwrap');
  writeFileSync(file, `#!/bin/bash\n[ "$1" = --version ] && { ${version}; }\n${script}\n`, {mode: 0o755});
  const module = pathToFileURL(join(root, 'dist/effects/sandbox/sandbox.js')).href;
  const ask = `
    const {makeSandbox} = await import(${JSON.stringify(module)});
    console.log(JSON.stringify(await makeSandbox(${JSON.stringify(home)}).state()));
  `;
  const said = spawnSync(process.execPath, ['--input-type=module', '-e', ask], {
    encoding: 'utf8',
    env: {PATH: process.env.PATH, AGENTDIR_BWRAP: file},
  });
  return JSON.parse(said.stdout);
}

describe('a bubblewrap that is none', () => {
  const passes = 'while [ "$1" != -- ]; do [ "$1" = --chdir ] && cd "$2"; shift; done; shift';

  it('that confines nothing is found out, and nothing is tried with it', () => {
    expect(verdictOn(`${passes}; exec "$@"`)).toMatchObject({
      state: 'broken',
      why: expect.stringContaining("shares the daemon's"),
    });
    for (const folder of ['/', '/usr', '/etc']) expect(existsSync(join(folder, 'agentdir-self-test'))).toBe(false);
  });

  it.skipIf(noBubblewrap || !hasFilter)('that leaves out the filter is found out', () => {
    const without =
      'a=(); while [ $# -gt 0 ]; do if [ "$1" = --seccomp ]; then shift 2; else a+=("$1"); shift; fi; done';
    expect(verdictOn(`${without}; exec bwrap "\${a[@]}"`)).toMatchObject({
      state: 'broken',
      why: 'the filter of system calls does not work',
    });
  });

  it('that does not answer is not waited for', () => {
    expect(verdictOn('', 'sleep 620')).toMatchObject({state: 'broken', why: expect.stringMatching(/does not answer$/)});
    expect(verdictOn('', 'exit 1')).toMatchObject({state: 'broken', why: expect.stringMatching(/tells no version$/)});
    if (thorough) expect(verdictOn('sleep 621')).toMatchObject({state: 'broken', why: 'it does not run: timeout'});
  });
});
