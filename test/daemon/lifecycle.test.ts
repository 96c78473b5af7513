import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {holderText, thisProcess} from '../../src/home/disk/holder.ts';
import {startOf} from '../../src/home/disk/process-life.ts';
import {agentdir, git, newHome, put, temporary, until} from '../cli/run.ts';
import {serve, settled} from './serve.ts';

function stopAfterwards(home: string): void {
  onTestFinished(async () => {
    await agentdir(home, ['stop']);
  });
}

describe('a daemon in the background', () => {
  it('starts, tells its status, works, restarts and stops', async () => {
    const home = await newHome();
    stopAfterwards(home);
    const started = await agentdir(home, ['start', '--background', '--json']);
    expect(started).toMatchObject({code: 0, stderr: ''});
    const {pid, log} = JSON.parse(started.stdout) as {pid: number; log: string};
    expect(readFileSync(join(home, '.agentdir/daemon.pid'), 'utf8')).toBe(`${pid}\n`);
    const second = await agentdir(home, ['start']);
    expect(second.code).toBe(5);
    expect(second.stderr).toContain(`process ${pid}`);
    expect((await agentdir(home, ['start', '--background'])).code).toBe(5);
    expect((await agentdir(home, ['start', '--once'])).code).toBe(5);
    put(home, {'memory/a.md': 'a\n'});
    await settled(home, 'memory/a.md', t => t === 'a\n');
    await until(
      () => readFileSync(log, 'utf8'),
      text => text.includes('memory(a): created by hand'),
    );
    const status = await agentdir(home, ['status', '--json']);
    expect(status.code).toBe(0);
    expect(JSON.parse(status.stdout)).toMatchObject({
      running: true,
      pid,
      agents: 7,
      errors: 0,
      watching: true,
      troubles: [],
    });
    expect((await agentdir(home, ['status'])).stdout).toContain(`process ${pid}`);
    const restarted = JSON.parse((await agentdir(home, ['restart', '--json'])).stdout) as {pid: number};
    expect(restarted.pid).not.toBe(pid);
    expect((await agentdir(home, ['stop'])).code).toBe(0);
    // Its parent is gone too, so in a container without a reaper a corpse may remain.
    expect(startOf(restarted.pid)).toBe('');
    expect(existsSync(join(home, '.agentdir/daemon.pid'))).toBe(false);
    expect((await agentdir(home, ['stop'])).code).toBe(5);
    const down = await agentdir(home, ['status', '--json']);
    expect(down.code).toBe(5);
    expect(JSON.parse(down.stdout)).toMatchObject({running: false, pid: null, agents: 7});
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });

  it('says why it could not start', async () => {
    const home = join(await newHome(), 'memory');
    writeFileSync(join(home, 'agentdir.yaml'), 'format: 1\n');
    const bare = await agentdir(home, ['start', '--background'], {PATH: '/nowhere'});
    expect(bare.code).toBe(1);
    expect(bare.stderr).toMatch(/git/);
  });
});

describe('the lock of a daemon', () => {
  it('is taken over from one that was killed, and from a pid that is now another process', async () => {
    const home = await newHome();
    const first = await serve(home);
    await first.kill();
    const second = await serve(home);
    await second.stop();
    const other = spawn('sleep', ['60'], {stdio: 'ignore'});
    onTestFinished(() => void other.kill());
    mkdirSync(join(home, '.agentdir/locks'), {recursive: true});
    // As if a daemon had once had this pid.
    writeFileSync(
      join(home, '.agentdir/locks/daemon'),
      holderText({...thisProcess(), pid: other.pid ?? 0, began: '1'}),
    );
    const third = await serve(home);
    expect(await third.stop()).toBe(0);
    expect(other.exitCode).toBeNull();
  });
});

describe('a stop', () => {
  it('commits what was saved just before', async () => {
    const home = await newHome();
    const {stop} = await serve(home);
    put(home, {'memory/last.md': 'last\n'});
    await new Promise(resolve => setTimeout(resolve, 5));
    expect(await stop()).toBe(0);
    // Seen or not, nothing is lost: the next start has it at the latest.
    await agentdir(home, ['start', '--once']);
    expect(await git(home, 'show', 'HEAD:memory/last.md')).toBe('last\n');
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });
});

describe('a home that was made by hand, in a repository with other things', () => {
  it('is served without a trace in git status, and nothing else is touched', async () => {
    const home = temporary();
    await git(home, 'init', '-q');
    put(home, {'agents/agentdir.yaml': 'format: 1\n', 'agents/memory/a.md': 'a\n', 'src/x.c': 'dirty\n'});
    const served = await serve(join(home, 'agents'));
    await until(
      () => git(home, 'log', '--format=%s').catch(() => ''),
      log => log.includes('memory(a): created by hand') && log.includes('settings(agentdir.yaml): created by hand'),
    );
    await until(
      () => existsSync(join(home, 'agents/NEEDS_YOU.md')),
      there => there,
    );
    expect(await git(home, 'status', '--porcelain', '-uall')).toBe('?? src/x.c\n');
    await served.stop();
  });
});
