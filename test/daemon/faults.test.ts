import {execFileSync, spawnSync} from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {agentdir, git, newHome, put, temporary, thorough, until} from '../cli/run.ts';
import {noBubblewrap} from '../effects/sandbox-home.ts';
import {read, serve, settled, spawnDaemon} from './serve.ts';
import {saysNoMore, sound, tidy, told} from './trouble.ts';

const TASKS = 'tasks/t.task.md';
const SESSION = 'sessions/s.session.yaml';
const LEAST = 'agent_id: planner-001\nstatus: paused\nmessages:\n  - role: user\n    content: Is Redis up?\n';
const BLOCK = 4096;

/** Root in a container may not mount either. */
function canMount(): boolean {
  const place = mkdtempSync(join(tmpdir(), 'agentdir-test-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', place]).status === 0;
  if (mounted) execFileSync('umount', [place]);
  rmdirSync(place);
  return mounted;
}

const mountable = canMount();

const count = (text: string, what: RegExp) => (text.match(what) ?? []).length;

describe('a full disk', () => {
  /** A home on a disk of its own, of 4 MB; and a way to fill it to the last block. */
  async function smallHome(): Promise<{home: string; fill: () => void; free: () => void}> {
    const disk = temporary();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]);
    onTestFinished(() => {
      execFileSync('umount', ['--lazy', disk]);
    });
    const home = join(disk, 'home');
    const made = await agentdir(disk, ['init', home]);
    if (made.code !== 0) throw new Error(made.stderr);
    let n = 0;
    const fill = () => {
      for (let size = 1 << 20; size >= 1; size >>= 1) {
        try {
          for (;;) writeFileSync(join(disk, `ballast-${n++}`), Buffer.alloc(size, 1));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          rmSync(join(disk, `ballast-${n - 1}`), {force: true});
        }
      }
    };
    const free = () => {
      for (const name of readdirSync(disk)) if (name.startsWith('ballast')) unlinkSync(join(disk, name));
    };
    return {home, fill, free};
  }

  it.skipIf(!mountable)('(needs to mount a tmpfs) it goes on, says so, and does all when there is room', async () => {
    const {home, fill, free} = await smallHome();
    put(home, {[TASKS]: '# Mine\n', 'memory/m.md': `${'x'.repeat(4000)}\n`});
    const served = await serve(home);
    await settled(home, TASKS, text => text !== '');
    const needs = await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text !== '',
    );
    await until(
      () => served.events,
      events => events.some(({event}) => event === 'sandbox'),
    );
    fill();
    // In place, in blocks the files have already.
    writeFileSync(join(home, TASKS), '# Mine\n- [ ] @human "one"\n', {flag: 'r+'});
    writeFileSync(join(home, 'memory/m.md'), 'y'.repeat(2000), {flag: 'r+'});
    await until(
      () => told(served, 'trouble'),
      troubles => troubles.some(what => /t\.task\.md cannot be written: the disk is full/.test(what)),
    );
    await until(
      () => told(served, 'trouble'),
      troubles => troubles.some(what => /edits are committed when there is room/.test(what)),
    );
    // What it cannot write stays whole as it was.
    tidy(home);
    expect(read(home, 'NEEDS_YOU.md')).toBe(needs);
    expect(read(home, TASKS)).toBe('# Mine\n- [ ] @human "one"\n');
    expect(JSON.parse(readFileSync(join(home, '.agentdir/status.json'), 'utf8'))).toMatchObject({pid: served.pid});
    await until(
      async () => (await agentdir(home, ['status'])).stdout,
      status => /NEEDS_YOU\.md cannot be written: the disk is full/.test(status) && /there is room/.test(status),
    );
    free();
    const text = await settled(home, TASKS, now => now.includes('created:'));
    expect(parseTasks(text).tasks).toHaveLength(1);
    await saysNoMore(home, served, /disk is full|there is room/);
    expect(await git(home, 'show', 'HEAD:memory/m.md')).toBe(`${'y'.repeat(2000)}${'x'.repeat(2000)}\n`);
    await sound(home, served);
  });

  it.skipIf(!mountable || noBubblewrap !== undefined)(
    '(needs to mount a tmpfs) is no reason to take a sandbox for none: it is tested when there is room, and commands wait',
    async () => {
      const {home, fill, free} = await smallHome();
      const served = await serve(home);
      fill();
      await until(
        () => told(served, 'trouble'),
        troubles => troubles.some(what => /^not tested yet: the disk is full, .*commands wait/.test(what)),
      );
      expect(served.events.filter(({event, confines}) => event === 'sandbox' && confines)).toEqual([]);
      free();
      await until(
        () => served.events,
        events => events.some(({event, confines}) => event === 'sandbox' && confines === true),
      );
      await saysNoMore(home, served, /disk is full/);
      await sound(home, served);
    },
  );

  it.skipIf(!mountable)(
    '(needs to mount a tmpfs) full when it stops, and when it starts: nothing torn, nothing lost',
    async () => {
      const {home, fill, free} = await smallHome();
      put(home, {[TASKS]: '# Mine\n'});
      const served = await serve(home);
      await settled(home, TASKS, text => text !== '');
      await until(
        () => served.events,
        events => events.some(({event}) => event === 'sandbox'),
      );
      fill();
      writeFileSync(join(home, TASKS), '# Mine\n- [ ] @human "one"\n', {flag: 'r+'});
      await until(
        () => told(served, 'trouble'),
        troubles => troubles.length > 0,
      );
      expect(await served.stop()).toBe(0);
      expect(served.errors()).toBe('');
      tidy(home);
      fill();
      const refused = await agentdir(home, ['start', '--once']);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/^agentdir: .*(?:disk is full|no space)/i);
      expect(refused.stderr).not.toContain('    at ');
      tidy(home);
      expect(read(home, TASKS)).toBe('# Mine\n- [ ] @human "one"\n');
      free();
      const again = await serve(home);
      await settled(home, TASKS, text => text.includes('created:'));
      await sound(home, again);
    },
  );

  it.skipIf(!mountable).each(thorough ? [0, 1, 2, 3, 4, 6, 8] : [0, 3])(
    '(needs to mount a tmpfs) after a kill, with room for %i files: the next daemon waits for room, or serves and says so',
    async room => {
      const {home, fill, free} = await smallHome();
      put(home, {[TASKS]: '# Mine\n', 'memory/m.md': 'x\n'});
      const first = await serve(home);
      await settled(home, 'memory/m.md', text => text !== '');
      // Completed by the daemon, and not committed: what the person saved is known from .agentdir alone.
      const lock = join(home, '.git/index.lock');
      writeFileSync(lock, '');
      put(home, {[TASKS]: '# Mine\n- [ ] @human "one"\n'});
      await until(
        () => read(home, TASKS),
        text => text.includes('created:'),
      );
      await first.kill();
      unlinkSync(lock);
      const spare = Array.from({length: room}, (_, i) => join(dirname(home), `spare-${i}`));
      for (const path of spare) writeFileSync(path, '1');
      fill();
      for (const path of spare) unlinkSync(path);
      const second = spawnDaemon(home);
      // With some room it may come through without a trouble: then git has everything.
      await until(
        async () => ({
          ...{troubles: told(second, 'trouble'), code: second.child.exitCode, errors: second.errors()},
          isDone: (await git(home, 'log', '--format=%s', '--', TASKS)).includes('filled in'),
        }),
        ({troubles, code, isDone}) =>
          code !== null || isDone || troubles.some(what => /disk is full|there is room/.test(what)),
      );
      expect(second.errors()).toBe('');
      expect(second.child.exitCode).toBeNull();
      free();
      await settled(home, TASKS, text => text.includes('created:'));
      await sound(home, second);
    },
  );

  it.skipIf(!mountable)(
    '(needs to mount a tmpfs) what cannot be kept is told as long as there is something to keep',
    async () => {
      const {home, fill, free} = await smallHome();
      put(home, {[TASKS]: '- [ ] @human "a"\n'});
      const served = await serve(home);
      const full = await settled(home, TASKS, text => text.includes('created:'));
      await until(
        () => served.events,
        events => events.some(({event}) => event === 'sandbox'),
      );
      const inPlace = (text: string) => {
        writeFileSync(join(home, TASKS), text, {flag: 'r+'});
        truncateSync(join(home, TASKS), text.length);
      };
      fill();
      inPlace('- [ ] @human "a"\n  id: my-own-id\n');
      await until(
        () => told(served, 'trouble'),
        troubles => troubles.some(what => /^conflicts\/.* cannot be written: the disk is full/.test(what)),
      );
      inPlace(full);
      free();
      await until(
        () => told(served, 'over'),
        over => over.some(what => /^conflicts\//.test(what)),
      );
      await settled(home, TASKS, text => text === full);
      await sound(home, served);
    },
  );

  it.skipIf(!mountable)('(needs to mount a tmpfs) in the background: its log does not stop it', async () => {
    const {home, fill, free} = await smallHome();
    onTestFinished(async () => {
      await agentdir(home, ['stop']);
    });
    put(home, {'memory/m.md': 'x\n'});
    expect((await agentdir(home, ['start', '--background'])).code).toBe(0);
    await settled(home, 'memory/m.md', text => text !== '');
    const log = join(home, '.agentdir/daemon.log');
    await until(
      () => readFileSync(log, 'utf8'),
      // The last of what it says at its start, as whoever may mount.
      text => / running as root/.test(text),
    );
    // Room for 40 more bytes in its last block.
    appendFileSync(log, `${new Date().toISOString()} ${'.'.repeat(BLOCK - 40 - 26 - (statSync(log).size % BLOCK))}\n`);
    fill();
    writeFileSync(join(home, 'memory/m.md'), 'y\n', {flag: 'r+'});
    await until(
      () => statSync(log).size % BLOCK,
      rest => rest === 0,
    );
    expect(JSON.parse((await agentdir(home, ['status', '--json'])).stdout)).toMatchObject({running: true});
    free();
    await settled(home, 'memory/m.md', text => text === 'y\n');
    expect((await agentdir(home, ['stop'])).code).toBe(0);
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z (?!.*\dZ )/);
    expect(lines.at(-1)).toMatch(/stopped$/);
    await sound(home, undefined);
  });
});

describe('a clock that is set back two hours', () => {
  const library = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib', '/usr/local/lib']
    .map(folder => join(folder, 'faketime/libfaketime.so.1'))
    .find(path => existsSync(path));

  it.skipIf(!library)('(needs libfaketime) while it runs: edits, order and stale saves are as ever', async () => {
    const home = await newHome();
    const clock = join(dirname(home), 'clock');
    writeFileSync(clock, '+0\n');
    const fake = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    };
    const served = await serve(home, fake);
    put(home, {[SESSION]: LEAST, [TASKS]: '- [ ] @human "one"\n'});
    const first = await settled(home, SESSION, text => text.includes('updated:'));
    const tasks = await settled(home, TASKS, text => text.includes('created:'));
    writeFileSync(clock, '-7200\n');
    // From what is there, then from a buffer of before.
    const next = '  - role: user\n    content: And now?\n';
    writeFileSync(join(home, SESSION), first + next);
    const second = await settled(home, SESSION, text => count(text, /timestamp:/g) === 2);
    writeFileSync(join(home, SESSION), `${LEAST}  - role: user\n    content: And then?\n`);
    const third = await settled(home, SESSION, text => count(text, /timestamp:/g) === 3);
    const [one, two, three] = [first, second, third].map(text => parseSession(text));
    expect(three?.messages.map(({content}) => content)).toEqual(['Is Redis up?', 'And now?', 'And then?']);
    expect(three?.messages.slice(0, 2)).toEqual(two?.messages);
    expect(three?.header?.created).toBe(one?.header?.created);
    const updated = [one, two, three].map(session => Date.parse(session?.header?.updated ?? ''));
    expect(updated).toEqual([...updated].sort((a, b) => a - b));
    expect(new Set(updated).size).toBe(3);
    // It did go back.
    expect(Date.parse(three?.messages[2]?.timestamp ?? '')).toBeLessThan(Date.now() - 7_000_000);
    // A save that is under way is still waited for.
    const events = served.events.length;
    writeFileSync(join(home, TASKS), tasks.slice(0, 15));
    await until(
      () => served.events.slice(events).filter(({event, path}) => event === 'seen' && path === TASKS),
      seen => seen.length > 0,
    );
    writeFileSync(join(home, TASKS), tasks.replace('[ ]', '[x]'));
    await settled(home, TASKS, text => text.includes('completed:'));
    expect(served.events.filter(({event}) => event === 'problem' || event === 'trouble')).toEqual([]);
    await sound(home, served);
    // Started before the times of all its files.
    const head = await git(home, 'rev-parse', 'HEAD');
    const again = await serve(home, fake);
    writeFileSync(clock, '+0\n');
    put(home, {'memory/m.md': 'x\n'});
    await settled(home, 'memory/m.md', text => text !== '');
    expect(await git(home, 'rev-parse', 'HEAD~1')).toBe(head);
    await sound(home, again);
  });
});
