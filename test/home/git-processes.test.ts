import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {symlinkSync} from 'node:fs';
import {join} from 'node:path';
import {setImmediate as turn} from 'node:timers/promises';
import {expect, it, onTestFinished} from 'vitest';
import {startOf} from '../../src/home/disk/process-life.ts';
import {GitProcesses} from '../../src/home/git/git-processes.ts';
import {temporary} from '../cli/run.ts';
import {repository} from './repository.ts';

/** How often the process starts the next program in its own place. While it does, it has no command line. */
const STARTS = 200;

it('a git command that becomes another program stays visible', async () => {
  const dir = await repository({'memory/a.md': 'a\n'});
  const link = join(temporary(), 'git');
  symlinkSync('/bin/bash', link);
  const script = 'if [ "$1" -gt 0 ]; then exec "$LINK" -c "$SCRIPT" reset $(($1 - 1)); fi; echo ended; read -r _';
  const env = {...process.env, LINK: link, SCRIPT: script};
  const child = spawn(link, ['-c', script, 'reset', `${STARTS}`], {cwd: dir, env, stdio: ['pipe', 'pipe', 'inherit']});
  onTestFinished(() => void child.kill());
  const pid = child.pid ?? 0;
  const processes = new GitProcesses({own: join(dir, '.git'), common: join(dir, '.git')}, dir);
  let ended = false;
  void once(child.stdout, 'data').then(() => {
    ended = true;
  });
  // The fork of this process is not git yet.
  while (!processes.running().has(`${pid}`) && startOf(pid) !== '') await turn();
  let looks = 0;
  for (; !ended; looks++) {
    expect(processes.running().get(`${pid}`) ?? `not seen in look ${looks}`).toMatch(/^git/);
    await turn();
  }
  expect(looks).toBeGreaterThan(0);
  child.stdin.end('\n');
  await once(child, 'close');
  expect(processes.running().has(`${pid}`)).toBe(false);
});
