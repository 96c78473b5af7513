import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, symlinkSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it, onTestFinished, vi} from 'vitest';
import {GitProcesses} from '../../src/home/git/git-processes.ts';
import {git, temporary} from '../cli/run.ts';
import {entry, lines, open, repository, soundness, write} from './repository.ts';

/** What each does after it has resolved HEAD: git compares with what HEAD is then, not with what it was. */
const commands = {
  reset: 'git reset -q "$old"',
  checkout: 'git branch theirs "$old" && git symbolic-ref HEAD refs/heads/theirs',
};

/**
 * A command of theirs that begins right after the publish has looked for such, and has resolved HEAD before HEAD moves;
 * the rest of it comes after. It is git by its name, and git does the rest.
 */
function beginsUnseen(dir: string, name: keyof typeof commands): Promise<unknown> {
  const link = join(temporary(), 'git');
  symlinkSync('/bin/bash', link);
  const script = `old=$(git rev-parse HEAD); touch .git/resolved
    while [ "$(git rev-parse HEAD)" = "$old" ]; do :; done; ${commands[name]}`;
  const look = GitProcesses.prototype.underWay;
  return new Promise(resolve => {
    let looks = 0;
    const spy = vi.spyOn(GitProcesses.prototype, 'underWay').mockImplementation(function (this: GitProcesses) {
      const found = look.call(this);
      // Once before a batch is prepared, and once when it is to be published.
      if (++looks !== 2) return found;
      const child = spawn(link, ['-c', script, name], {cwd: dir, stdio: 'inherit'});
      onTestFinished(() => void child.kill());
      resolve(once(child, 'close'));
      for (const end = Date.now() + 10_000; !existsSync(join(dir, '.git/resolved')) && Date.now() < end; );
      return found;
    });
    onTestFinished(() => spy.mockRestore());
  });
}

it.each([
  ['reset', []],
  ['reset', ['--object-format=sha256']],
  ['checkout', []],
] as const)(
  'a commit that a git %s of theirs, begun before it, leaves behind is made again on top %j',
  async (name, options) => {
    const dir = await repository({'memory/a.md': 'old\n'}, ...options);
    const journal = await open(dir);
    const ended = beginsUnseen(dir, name);
    const done = await journal.add(entry(write(dir, 'memory/a.md', 'new\n'), 'ours'));
    await ended;
    expect(lines(await git(dir, 'rev-list', 'HEAD'))).toContain(done.commit);
    expect(await git(dir, 'log', '--format=%s')).toBe('ours\nstart\n');
    expect(await git(dir, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe(name === 'reset' ? 'main\n' : 'theirs\n');
    expect(await soundness(dir)).toBe('');
    expect(journal.at.commit).toBe(done.commit);
    expect(await journal.refresh()).toEqual([]);
  },
);
