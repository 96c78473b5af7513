import {spawn} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {expect, it, onTestFinished, vi} from 'vitest';
import {markedProcesses} from '../../src/effects/sandbox/processes.ts';
import {makeSandbox} from '../../src/effects/sandbox/sandbox.ts';
import {abandonedScratch, clearScratch, removeScratch, scratchFolder} from '../../src/effects/sandbox/scratch.ts';
import {root} from '../cli/run.ts';
import {sandboxHome} from './sandbox-home.ts';

it('the self-test of a killed daemon is ended at the next start, with its processes and folders', async () => {
  const {home} = sandboxHome();
  // One that hangs, in a session of its own.
  const bwrap = join(home, 'bwrap');
  writeFileSync(bwrap, '#!/bin/sh\n[ "$1" = --version ] && { echo bubblewrap 0.8.0; exit; }\nexec setsid sleep 600\n');
  chmodSync(bwrap, 0o755);
  const module = pathToFileURL(join(root, 'dist/effects/sandbox/sandbox.js')).href;
  const script = `const {makeSandbox} = await import(${JSON.stringify(module)}); await makeSandbox(${JSON.stringify(home)}).state();`;
  const daemon = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: {...process.env, AGENTDIR_BWRAP: bwrap},
    stdio: 'ignore',
  });
  onTestFinished(() => void daemon.kill('SIGKILL'));
  const folders = () => readdirSync(join(home, '.agentdir')).filter(name => name.includes('sandbox-test'));
  await vi.waitFor(async () => expect(await markedProcesses(folders()[0] ?? '-')).toHaveLength(1), {timeout: 60_000});
  const [left = ''] = folders();
  daemon.kill('SIGKILL');
  await new Promise(resolve => daemon.once('exit', resolve));
  expect(await markedProcesses(left)).toHaveLength(1);
  await makeSandbox(home).state();
  expect(await markedProcesses(left)).toEqual([]);
  expect(folders()).toEqual([]);
}, 120_000);

it('folders of pipes of killed processes are removed, those of living ones are not', () => {
  const own = scratchFolder(tmpdir(), 'pipes');
  onTestFinished(() => removeScratch(own));
  const left = own.replace(`-${process.pid}-`, '-4194303-');
  mkdirSync(left);
  expect(abandonedScratch(tmpdir())).toContain(left);
  expect(abandonedScratch(tmpdir())).not.toContain(own);
  clearScratch(tmpdir());
  expect(existsSync(left), basename(left)).toBe(false);
  expect(existsSync(own)).toBe(true);
});
