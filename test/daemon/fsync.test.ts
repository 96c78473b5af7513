import {readdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {agentdir, git, newHome, put, until} from '../cli/run.ts';
import {read, type Served, serve, settled} from './serve.ts';
import {sound, tidy} from './trouble.ts';

const TASKS = 'tasks/t.task.md';
const SESSION = 'sessions/s.session.yaml';
const LEAST = 'agent_id: planner-001\nstatus: paused\nmessages:\n  - role: user\n    content: Is Redis up?\n';

const count = (text: string, what: RegExp) => (text.match(what) ?? []).length;

describe('a disk that reports EIO on fsync', () => {
  /** Throws for files or for folders, whichever the file `EIO_WHEN` names, once it is there. */
  const PRELOAD = `
    import fs from 'node:fs';
    import {syncBuiltinESMExports} from 'node:module';
    for (const name of ['fsync', 'fdatasync']) {
      const sync = fs[name];
      fs[name] = (fd, done) => {
        const when = process.env.EIO_WHEN;
        const kind = fs.fstatSync(fd).isDirectory() ? 'folder' : 'file';
        if (!fs.existsSync(when) || fs.readFileSync(when, 'utf8') !== kind) return sync(fd, done);
        process.nextTick(done, Object.assign(new Error('EIO: i/o error, fsync'), {code: 'EIO', syscall: name}));
      };
    }
    syncBuiltinESMExports();
  `;

  async function breakable(home: string): Promise<{served: Served; when: string}> {
    const [preload, when] = [join(dirname(home), 'preload.mjs'), join(dirname(home), 'eio')];
    writeFileSync(preload, PRELOAD);
    const served = await serve(home, {NODE_OPTIONS: `--import=file://${preload}`, EIO_WHEN: when});
    return {served, when};
  }

  async function stopsSafely(home: string, {exited, events, errors}: Served): Promise<void> {
    expect(await exited).toBe(1);
    expect(events.find(({event}) => event === 'stopping')?.why).toMatch(/the disk reports EIO on fsync/);
    expect(events.at(-1)?.event).toBe('stopped');
    expect(errors()).toBe('');
    expect(read(home, 'NEEDS_YOU.md')).toMatch(/the disk reports EIO on fsync/);
    const status = await agentdir(home, ['status']);
    expect(status.code).toBe(5);
    expect(status.stdout).toMatch(/^ {2}stopped .*: the disk reports EIO on fsync/m);
    tidy(home);
  }

  it.each(['file', 'folder'])('of a %s: it stops with 1, and the next start is clean', async kind => {
    const home = await newHome();
    const {served, when} = await breakable(home);
    writeFileSync(when, kind);
    // The folder of the version log is synced with its first version.
    put(home, {[SESSION]: LEAST, ...(kind === 'folder' && {[TASKS]: '- [x] one\n'})});
    await stopsSafely(home, served);
    for (const line of LEAST.trim().split('\n')) expect(read(home, SESSION)).toContain(line);
    const again = await serve(home);
    const text = await settled(home, SESSION, now => now.includes('updated:'));
    expect(count(text, /timestamp:/g)).toBe(1);
    expect(await git(home, 'log', '--format=%an', '--', SESSION)).toMatch(/Ada\n$/);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      now => !now.includes('EIO'),
    );
    await sound(home, again);
    expect((await agentdir(home, ['status'])).stdout).not.toContain('EIO');
  });

  it('of a text that could not be merged: the same', async () => {
    const home = await newHome();
    const {served, when} = await breakable(home);
    const mine = 'State: red\n\n- [ ] @away/planner "one"\n';
    put(home, {[TASKS]: mine});
    const text = await settled(home, TASKS, now => now.includes('created:'));
    put(home, {[TASKS]: text.replace('red', 'green')});
    await settled(home, TASKS, now => now.includes('green'));
    writeFileSync(when, 'file');
    const stale = mine.replace('red', 'blue');
    put(home, {[TASKS]: stale});
    await stopsSafely(home, served);
    expect(read(home, TASKS)).toBe(stale);
    const again = await serve(home);
    const merged = await settled(home, TASKS, now => now.includes('created:'));
    expect(merged).toBe(text.replace('red', 'blue'));
    const [copy = ''] = readdirSync(join(home, 'conflicts/tasks'));
    expect(read(home, `conflicts/tasks/${copy}`)).toBe(stale);
    expect(await git(home, 'log', '-p', '--', TASKS)).toContain('+State: green');
    await sound(home, again);
  });
});
