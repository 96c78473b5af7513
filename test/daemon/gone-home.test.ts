import {execFileSync, spawn} from 'node:child_process';
import {existsSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {agentdir, environment, main, newHome, put, until} from '../cli/run.ts';
import {type Served, serve, settled} from './serve.ts';

/** Until the daemon has tested its sandbox and written all that it derives: nothing is under way. */
async function serveQuietly(home: string): Promise<Served> {
  const served = await serve(home);
  await until(
    () => served.events.some(({event}) => event === 'sandbox') && existsSync(join(home, 'NEEDS_YOU.md')),
    isQuiet => isQuiet,
  );
  return served;
}

describe('a home that goes away under its daemon', () => {
  it('was moved: the daemon says so and ends, nothing appears at the old path, and the new one can be served', async () => {
    const home = await newHome();
    const served = await serve(home);
    put(home, {'memory/a.md': 'a\n'});
    await settled(home, 'memory/a.md', text => text === 'a\n');
    renameSync(home, `${home}-moved`);
    expect(await served.exited).toBe(1);
    expect(served.events.find(({event}) => event === 'stopping')?.why).toMatch(/moved or deleted/);
    expect(existsSync(home)).toBe(false);
    const moved = await serve(`${home}-moved`);
    expect(await moved.stop()).toBe(0);
  });

  it('was deleted: the daemon ends, and nothing is made again', async () => {
    const home = await newHome();
    const served = await serveQuietly(home);
    execFileSync('rm', ['-rf', home]);
    expect(await served.exited).toBe(1);
    expect(existsSync(home)).toBe(false);
  });

  it('was moved, and another folder has its path: that one stays as it is', async () => {
    const home = await newHome();
    const served = await serveQuietly(home);
    renameSync(home, `${home}-moved`);
    mkdirSync(home);
    expect(await served.exited).toBe(1);
    expect(readdirSync(home)).toEqual([]);
  });

  it('was moved: a daemon in the background says so in its log', async () => {
    const home = await newHome();
    onTestFinished(async () => void (await agentdir(`${home}-moved`, ['stop'])));
    expect((await agentdir(home, ['start', '--background'])).code).toBe(0);
    renameSync(home, `${home}-moved`);
    await until(
      () => readFileSync(join(`${home}-moved`, '.agentdir/daemon.log'), 'utf8'),
      text => text.includes('moved or deleted'),
    );
    await until(
      () => agentdir(`${home}-moved`, ['status']),
      ({code}) => code === 5,
    );
    expect(existsSync(home)).toBe(false);
  });
});

describe('a log on a full disk', () => {
  it.each(['stdout', 'stderr', 'both'])('does not end the daemon: %s', async which => {
    const home = await newHome();
    const full = openSync('/dev/full', 'w');
    const [out, err] = [which === 'stderr' ? 'ignore' : full, which === 'stdout' ? 'ignore' : full] as const;
    const child = spawn(process.execPath, [main, 'start'], {cwd: home, env: environment, stdio: ['ignore', out, err]});
    const exited = new Promise(resolve => child.once('exit', resolve));
    onTestFinished(() => void child.kill('SIGKILL'));
    put(home, {'memory/a.md': 'a\n'});
    await settled(home, 'memory/a.md', text => text === 'a\n');
    put(home, {'memory/a.md': 'b\n'});
    await settled(home, 'memory/a.md', text => text === 'b\n');
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });
});
