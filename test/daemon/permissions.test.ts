import {execFileSync, spawnSync} from 'node:child_process';
import {chmodSync, chownSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {agentdir, environment, git, main, newHome, put, until} from '../cli/run.ts';
import {read, type Served, serve, settled, spawnDaemon} from './serve.ts';
import {says, saysNoMore, sound} from './trouble.ts';

const TASKS = 'tasks/t.task.md';
const SESSION = 'sessions/s.session.yaml';

/** Git refuses homes of other users, as which some tests run the daemon; and it is not to write into them. */
Object.assign(environment, {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
  GIT_OPTIONAL_LOCKS: '0',
});

describe('a read-only file', () => {
  it('is committed but not written, until it may be', async () => {
    const home = await newHome();
    const served = await serve(home);
    const text = '- [ ] @away/planner "one"\n';
    put(home, {'tasks/.t': text});
    chmodSync(join(home, 'tasks/.t'), 0o444);
    renameSync(join(home, 'tasks/.t'), join(home, TASKS));
    await says(home, served, /t\.task\.md cannot be written: it is read-only; to let the daemon write it: chmod u\+w/);
    await settled(home, TASKS, now => now === text);
    chmodSync(join(home, TASKS), 0o640);
    await settled(home, TASKS, now => now.includes('created:'));
    await saysNoMore(home, served, /read-only/);
    expect(statSync(join(home, TASKS)).mode & 0o777).toBe(0o640);
    await sound(home, served);
  });
});

describe('without permission', () => {
  const uid = 61_234;
  /** Whether another user can run the program from here at all. */
  const possible =
    process.getuid?.() === 0 &&
    spawnSync(process.execPath, [main, '--version'], {uid, gid: uid, cwd: '/'}).status === 0;

  async function othersHome(files: Record<string, string>): Promise<{home: string; served: Served}> {
    const home = await newHome(files);
    execFileSync('chown', ['-R', `${uid}:${uid}`, dirname(home)]);
    const served = spawnDaemon(home, {}, {uid, gid: uid});
    await until(
      () => served.events,
      events => events.some(({event}) => event === 'serving') || served.child.exitCode !== null,
    );
    return {home, served};
  }
  const own = (home: string, path: string) => chownSync(join(home, path), uid, uid);

  it.skipIf(!possible)(
    '(needs root) a folder of inboxes that it may not read is told of, and all else is served',
    async () => {
      const home = await newHome({'inbox/x.jsonl': '{"text": "a"}\n', 'memory/m.md': 'x\n'});
      execFileSync('chown', ['-R', `${uid}:${uid}`, dirname(home)]);
      chmodSync(join(home, 'inbox'), 0o000);
      const served = spawnDaemon(home, {}, {uid, gid: uid});
      await settled(home, 'memory/m.md', text => text !== '');
      await until(
        () => served.events,
        events =>
          events.some(({event, problem}) => event === 'problem' && JSON.stringify(problem).includes('UNREADABLE')),
      );
      expect(await served.stop()).toBe(0);
    },
  );

  it.skipIf(!possible)('(needs root) folders and files: nothing is taken for removed, all is done later', async () => {
    const {home, served} = await othersHome({[TASKS]: '# Mine\n', 'memory/m.md': 'x\n'});
    await settled(home, TASKS, text => text !== '');
    const before = await git(home, 'rev-parse', 'HEAD');
    chmodSync(join(home, 'tasks'), 0o000);
    chmodSync(join(home, 'memory/m.md'), 0o000);
    for (const words of [/UNREADABLE.*tasks|tasks.*UNREADABLE/s, /memory\/m\.md/])
      await until(
        () => read(home, 'NEEDS_YOU.md'),
        text => words.test(text),
      );
    writeFileSync(join(home, TASKS), '# Mine\n- [ ] @away/planner "one"\n');
    // Something else goes on meanwhile.
    put(home, {'memory/other.md': 'o\n'});
    own(home, 'memory/other.md');
    await settledBut(home, 'memory/other.md');
    expect(await git(home, 'rev-list', '--count', `${before.trim()}..HEAD`)).toBe('1\n');
    // It may be read, and not written.
    chmodSync(join(home, 'tasks'), 0o555);
    chmodSync(join(home, 'memory/m.md'), 0o644);
    await says(home, served, /t\.task\.md cannot be written: no permission/);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => !text.includes('UNREADABLE'),
    );
    expect(await git(home, 'show', `HEAD:${TASKS}`)).toBe('# Mine\n- [ ] @away/planner "one"\n');
    chmodSync(join(home, 'tasks'), 0o755);
    await settled(home, TASKS, text => text.includes('created:'));
    await saysNoMore(home, served, /no permission/);
    await sound(home, served);
  });

  it.skipIf(!possible)(
    '(needs root) the repository, and the home itself: it waits, and says so where it can',
    async () => {
      const {home, served} = await othersHome({'memory/m.md': 'x\n'});
      await settled(home, 'memory/m.md', text => text !== '');
      execFileSync('chmod', ['-R', 'a-w', join(home, '.git')]);
      writeFileSync(join(home, 'memory/m.md'), 'y\n');
      await says(home, served, /the repository cannot be written/);
      chmodSync(home, 0o555);
      put(home, {'memory/wrong.md': 'x\n', 'sessions/s.session.yaml': 'agent_id: [\n'});
      execFileSync('chown', ['-R', `${uid}:${uid}`, join(home, 'memory'), join(home, 'sessions')]);
      await until(
        async () => (await agentdir(home, ['status'])).stdout,
        text => /NEEDS_YOU\.md cannot be written: no permission/.test(text) && /1 error/.test(text),
      );
      chmodSync(home, 0o755);
      await until(
        () => read(home, 'NEEDS_YOU.md'),
        text => text.includes('s.session.yaml') && !text.includes('NEEDS_YOU.md cannot'),
      );
      rmSync(join(home, SESSION));
      execFileSync('chmod', ['-R', 'u+w', join(home, '.git')]);
      await settled(home, 'memory/m.md', text => text === 'y\n');
      await saysNoMore(home, served, /cannot be written/);
      expect(await git(home, 'show', 'HEAD:memory/wrong.md')).toBe('x\n');
      await sound(home, served);
    },
  );

  it.skipIf(!possible)('(needs root) to start: it says what is missing', async () => {
    const home = await newHome();
    chmodSync(dirname(home), 0o755);
    const served = spawnDaemon(home, {}, {uid, gid: uid});
    expect(await served.exited).toBe(1);
    expect(served.errors()).toMatch(/^agentdir: .*no permission/);
    expect(served.errors()).not.toContain('    at ');
  });
});

/** As `settled`, where other files cannot be read. */
async function settledBut(home: string, path: string): Promise<void> {
  await until(
    () => git(home, 'status', '--porcelain', '--', path),
    status => status === '',
  );
}
