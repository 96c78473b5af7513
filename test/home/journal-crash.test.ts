import {execFile} from 'node:child_process';
import {existsSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {crashLabels} from '../../src/home/disk/crash.ts';
import {environment, git, until} from '../cli/run.ts';
import {entry, fileAt, lines, open, repository, soundness, write} from './repository.ts';

const child = fileURLToPath(new URL('crash-child.mjs', import.meta.url));

function run(dir: string, args: number[], crash = ''): Promise<{killed: boolean; said: string[]}> {
  const env = {...environment, ...(crash ? {AGENTDIR_CRASH_AT: crash} : {})};
  return new Promise((resolve, reject) =>
    execFile(process.execPath, [child, dir, ...args.map(String)], {env}, (error, stdout, stderr) => {
      if (error && error.signal !== 'SIGKILL') reject(new Error(stderr));
      else resolve({killed: error !== null, said: lines(stdout)});
    }),
  );
}

const files = Object.fromEntries([0, 1, 2, 3, 4, 5, 6].map(i => [`memory/${i}.md`, `${i}\n`]));
const labels = crashLabels.filter(label => label.startsWith('journal-'));

describe('killed', () => {
  it.each(labels.flatMap(label => (process.env.FUZZ ? [1, 2, 3] : [1]).map(n => `${label}:${n}`)))(
    'at %s: nothing is lost, nothing is in the way, and the next run goes on',
    async crash => {
      const dir = await repository(files);
      if (crash.endsWith('2')) await git(dir, 'checkout', '-q', '--detach');
      // A pack is made of many at once only.
      const atOnce = crash.startsWith('journal-pack') ? 40 : 2;
      const {killed, said} = await run(dir, [0, 120, atOnce], crash);
      expect(killed).toBe(true);
      const journal = await open(dir);
      // What it said it had published is there.
      const subjects = lines(await git(dir, 'log', '--format=%s', '--reverse')).slice(1);
      expect(subjects.slice(0, said.length)).toEqual(said);
      // Nobody's next commit can revert anything: the index is never behind HEAD.
      for (const line of lines(await git(dir, 'diff', '--cached', '--numstat'))) expect(line).toMatch(/^\d+\t0\t/);
      // The daemon's part: what is on disk and not in git is committed.
      await Promise.all(Object.keys(files).map(path => journal.add(entry(fileAt(dir, path), 'recovered'))));
      expect(await soundness(dir)).toBe('');
      expect(readdirSync(join(dir, '.git')).filter(name => /agentdir|lock/.test(name))).toEqual([]);
      await journal.close();
      const next = await run(dir, [1000, 1010, 2]);
      expect(next.said).toHaveLength(10);
      expect(await soundness(dir)).toBe('');
    },
  );

  it('at random moments: nothing is lost, and git is sound', async () => {
    const dir = await repository(files);
    for (let i = 0; i < 8; i++) {
      const env = {...environment};
      const running = execFile(process.execPath, [child, dir, String(i * 10_000), String(i * 10_000 + 9_999), '3'], {
        env,
      });
      const exited = new Promise(resolve => running.once('exit', resolve));
      let out = '';
      running.stdout?.on('data', data => {
        out += data;
      });
      await until(
        () => lines(out).length,
        count => count > 5 + 7 * i,
      );
      running.kill('SIGKILL');
      await exited;
      const journal = await open(dir);
      expect(lines(await git(dir, 'log', '--format=%s', '--reverse'))).toEqual(
        expect.arrayContaining(lines(out).slice(0, -1)),
      );
      await Promise.all(Object.keys(files).map(path => journal.add(entry(fileAt(dir, path), 'recovered'))));
      expect(await soundness(dir)).toBe('');
      await journal.close();
    }
  });
});

describe('a lock left behind', () => {
  it('by a dead process of ours is removed; one of somebody else stays', async () => {
    const dir = await repository(files);
    expect((await run(dir, [0, 4, 1], 'journal-index-lock')).killed).toBe(true);
    expect(existsSync(join(dir, '.git/index.lock'))).toBe(true);
    const journal = await open(dir);
    expect(existsSync(join(dir, '.git/index.lock'))).toBe(false);
    await journal.add(entry(write(dir, 'memory/x.md', 'x\n')));
    writeFileSync(join(dir, '.git/index.lock'), '');
    await open(dir);
    expect(existsSync(join(dir, '.git/index.lock'))).toBe(true);
  });
});
