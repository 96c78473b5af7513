import {spawn, spawnSync} from 'node:child_process';
import {mkdirSync, readFileSync, utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {type Holder, holderText, isRunning, thisProcess} from '../../src/home/disk/holder.ts';
import {isAlive, startOf} from '../../src/home/disk/process-life.ts';
import {agentdir, environment, main, newHome, type Run, until} from '../cli/run.ts';
import {serve} from './serve.ts';

/** A new pid namespace is what tells containers apart that share a host name. It takes root to make one. */
const container = ['--pid', '--fork', '--kill-child', '--mount-proc'];
const canUnshare = spawnSync('unshare', [...container, 'true']).status === 0;
const needs = '(needs unshare --pid)';

const LOCK = '.agentdir/locks/daemon';

/** The command in a container of its own. */
function inContainer(home: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn('unshare', [...container, process.execPath, main, ...args], {
    cwd: home,
    env: {...environment, ...env},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = {stdout: '', stderr: ''};
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  const ended = new Promise<Run>(resolve => child.once('close', code => resolve({code: code ?? -1, ...output})));
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  return {output, ended, kill};
}

async function serveInContainer(home: string, env: NodeJS.ProcessEnv = {}) {
  const served = inContainer(home, ['start', '--json'], env);
  await until(
    () => served.output,
    ({stdout, stderr}) => stdout.includes('"serving"') || stderr !== '',
  );
  expect(served.output.stderr).toBe('');
  return served;
}

describe.skipIf(!canUnshare)(`${needs} a home that is served in another container`, () => {
  /** With locks of the kernel's, and as if fs-native-extensions were not installed. */
  it.each([{}, {AGENTDIR_NO_SWAP: '1'}])('is not served a second time %o', async env => {
    const home = await newHome();
    const outside = await serve(home, env);
    const second = await inContainer(home, ['start', '--once'], env).ended;
    expect(second).toMatchObject({code: 5});
    expect(second.stderr).toContain(`process ${outside.pid}`);
    expect(second.stderr).toContain('in another container');
    expect((await inContainer(home, ['status', '--json'], env).ended).stdout).toContain('"running":true');
    expect(await outside.stop()).toBe(0);
    expect((await inContainer(home, ['start', '--once'], env).ended).code).toBe(0);
    await serveInContainer(home, env);
    const third = await agentdir(home, ['start', '--once'], {...environment, ...env});
    expect(third).toMatchObject({code: 5});
    // The pid counts in the container only: here it is another process.
    expect(await agentdir(home, ['stop'], {...environment, ...env})).toMatchObject({code: 1});
  });

  it('is taken over at once when the container was killed', async () => {
    const home = await newHome();
    const inside = await serveInContainer(home);
    await inside.kill();
    expect(await (await serve(home)).stop()).toBe(0);
    const outside = await serve(home);
    await outside.kill();
    const again = await serveInContainer(home);
    await again.kill();
  });

  it('is taken over after a minute where there are no locks of the kernel', async () => {
    const home = await newHome();
    const env = {AGENTDIR_NO_SWAP: '1'};
    const inside = await serveInContainer(home, env);
    await inside.kill();
    const early = await agentdir(home, ['start', '--once'], {...environment, ...env});
    expect(early).toMatchObject({code: 5});
    expect(early.stderr).toContain(`rm ${join(home, LOCK)}`);
    const before = new Date(Date.now() - 61_000);
    utimesSync(join(home, LOCK), before, before);
    expect((await agentdir(home, ['start', '--once'], {...environment, ...env})).code).toBe(0);
  });
});

describe('the holder of a lock', () => {
  it('is known by pid and start time', () => {
    expect(isRunning(thisProcess())).toBe(true);
    expect(isRunning({...thisProcess(), began: '1'})).toBe(false);
    expect(isRunning({...thisProcess(), boot: 'another'})).toBe(false);
    expect(isRunning({...thisProcess(), pid: 4_194_303})).toBe(false);
  });

  it('cannot be seen on another machine or in another container', () => {
    expect(isRunning({...thisProcess(), boot: 'another', host: 'elsewhere'})).toBeUndefined();
    expect(isRunning({...thisProcess(), namespace: 'pid:[1]'})).toBeUndefined();
  });

  it('is seen whatever the host is called by now', () => {
    expect(isRunning({...thisProcess(), host: 'renamed'})).toBe(true);
  });
});

/**
 * A process that was killed and cannot end: the first of a pid namespace waits for all others in it, and the parent of
 * one of them, outside, does not look after its child.
 */
async function dyingProcess(): Promise<Holder> {
  const first = spawn('unshare', ['--pid', '--fork', 'sleep', '1000'], {stdio: 'ignore'});
  onTestFinished(() => void first.kill('SIGKILL'));
  const child = await until(
    () => readFileSync(`/proc/${first.pid}/task/${first.pid}/children`, 'utf8').trim(),
    text => text !== '',
  );
  // nsenter's child lives in the namespace; sleep, which takes nsenter's place, never waits for it.
  const careless = spawn('nsenter', ['-t', child, '-p', '--no-fork', 'sh', '-c', 'sleep 1000 & exec sleep 1000'], {
    stdio: 'ignore',
  });
  onTestFinished(() => void careless.kill('SIGKILL'));
  await until(
    () => readFileSync(`/proc/${careless.pid}/task/${careless.pid}/children`, 'utf8').trim(),
    text => text !== '',
  );
  await until(
    () => readFileSync(`/proc/${careless.pid}/cmdline`, 'utf8'),
    text => text.startsWith('sleep'),
  );
  const pid = Number(child);
  const began = startOf(pid);
  process.kill(pid, 'SIGKILL');
  return {...thisProcess(), pid, began};
}

describe.skipIf(!canUnshare)(`${needs} a daemon that was killed and is still exiting`, () => {
  it('does not count as alive', async () => {
    const dying = await dyingProcess();
    const {pid} = dying;
    expect(readFileSync(`/proc/${pid}/stat`, 'latin1')).toMatch(/\) [^ZX] /);
    expect(isAlive(pid, dying.began)).toBe(false);
    const home = await newHome();
    mkdirSync(join(home, '.agentdir/locks'), {recursive: true});
    writeFileSync(join(home, LOCK), holderText(dying));
    const served = await serve(home);
    expect(await served.stop()).toBe(0);
    expect(readFileSync(`/proc/${pid}/stat`, 'latin1')).toMatch(/\) [^ZX] /);
  });
});
