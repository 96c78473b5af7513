import {execFileSync, spawn} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {agentdir, environment, git, main, newHome, put, until} from '../cli/run.ts';
import {read, serve, spawnDaemon} from './serve.ts';
import {expectSound} from './sound.ts';

const agent = (id: string, rest = '') =>
  `id: ${id}\ntype: t\nmodel: playbook\nsystem_prompt: You wait.\ncapabilities: [list_agents]\n${rest}`;
const settings = (...schedules: string[]) =>
  `format: 1\ndefault_agent: ann\nschedules:\n${schedules.map(each => `  - ${each}\n`).join('')}`;

async function homeWith(...schedules: string[]): Promise<string> {
  const home = await newHome({
    'agentdir.yaml': settings(...schedules),
    'templates/ann.agent.yaml': agent('ann'),
    'templates/fay.agent.yaml': agent('fay', 'context: fresh\n'),
  });
  await git(home, 'add', '--', 'agentdir.yaml', 'templates');
  await git(home, 'commit', '--quiet', '--message=before');
  return home;
}

/** The times that were delivered, in all sessions. */
function slots(home: string): string[] {
  if (!existsSync(join(home, 'sessions'))) return [];
  const files = readdirSync(join(home, 'sessions'), {recursive: true}).map(String);
  const texts = files
    .filter(file => file.endsWith('.yaml'))
    .map(file => readFileSync(join(home, 'sessions', file), 'utf8'));
  return texts.flatMap(text => [...text.matchAll(/delivery: schedule\/\w+@(.*)/g)].map(([, slot = '']) => slot)).sort();
}

const seconds = (found: readonly string[]) => found.map(slot => Date.parse(slot) / 1000);
/** None twice, none left out. */
function expectEverySecond(found: readonly string[]): void {
  const [first = 0] = seconds(found);
  expect(seconds(found)).toEqual(found.map((_, i) => first + i));
}

describe('a schedule', () => {
  it('is a message of the system at its times, each once; a fresh agent gets a session for each', async () => {
    const home = await homeWith(
      '{cron: "* * * * * *", to: ann, message: "Look around"}',
      '{cron: "0 9 1 1 *", to: "@fay", message: "Happy new year", timezone: UTC}',
    );
    const daemon = await serve(home);
    await until(
      () => slots(home),
      found => found.length >= 3,
    );
    const session = read(home, 'sessions/ann/ann-shared.session.yaml');
    expect(session).toMatch(/from: system\n {4}content: Look around\n {4}delivery: schedule\//);
    expect(session).not.toContain('tainted');
    const status = await agentdir(home, ['status']);
    expect(status.stdout).toMatch(/next .* ann: Look around/);
    expect(status.stdout).toMatch(/next \d{4}-01-01 .* @fay: Happy new year/);
    // One that is taken away is not due any more, and nothing is left of it.
    put(home, {'agentdir.yaml': settings('{cron: "*/2 * * * * *", to: fay, message: "New"}')});
    await until(
      () => (existsSync(join(home, 'sessions/fay')) ? readdirSync(join(home, 'sessions/fay'), {recursive: true}) : []),
      found => found.filter(name => String(name).endsWith('.yaml')).length >= 2,
    );
    expect(read(home, 'state/schedules.yaml')).not.toContain('to: ann');
    expect(await daemon.stop()).toBe(0);
    put(home, {'agentdir.yaml': 'format: 1\n'});
    await agentdir(home, ['start', '--once']);
    expect(read(home, 'state/schedules.yaml')).toContain('schedules: {}');
    await expectSound(home);
  });

  it('is due once for each time, whenever the daemon is killed', async () => {
    const home = await homeWith('{cron: "* * * * * *", to: ann, message: Tick, missed: all}');
    for (const crash of ['save-rename:2', 'delivery:1', 'delivery:2', 'save-check:2', 'save-check:3', 'save-fsync:1']) {
      const daemon = spawnDaemon(home, {AGENTDIR_CRASH_AT: crash});
      expect(await daemon.exited, daemon.errors()).toBe('SIGKILL');
    }
    const last = await serve(home);
    const before = slots(home).length;
    await until(
      () => slots(home),
      found => found.length >= before + 2,
    );
    expect(await last.stop()).toBe(0);
    expectEverySecond(slots(home));
    put(home, {'agentdir.yaml': 'format: 1\ndefault_agent: ann\n'});
    await agentdir(home, ['start', '--once']);
    await expectSound(home);
  });

  it('with an error is a problem at its line, and the schedules before it hold', async () => {
    const home = await homeWith(
      '{cron: "0 25 * * *", to: ann, message: x}',
      '{cron: "0 9 * * *", to: ann, message: x, timezone: Mars/Olympus}',
      '{cron: "2026-12-01T00:00:00", to: ann, message: x}',
      '{cron: "0 9 30 2 *", to: ann, message: x}',
    );
    const {code, stdout} = await agentdir(home, ['check']);
    expect(code).toBe(4);
    expect(stdout).toContain('agentdir.yaml:4:12: error BAD_CRON: expected a cron expression such as "0 9 * * 1-5"');
    expect(stdout).toContain('agentdir.yaml:6:12: error BAD_CRON');
    expect(stdout).toContain('agentdir.yaml:7:12: error BAD_CRON');
    expect(stdout).toContain('error BAD_VALUE: expected a time zone such as Europe/Berlin or UTC');
  });

  it('for an agent that is not there waits for it', async () => {
    const home = await homeWith('{cron: "* * * * * *", to: zoe, message: Tick}');
    const daemon = await serve(home);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('zoe is not an agent'),
    );
    put(home, {'templates/zoe.agent.yaml': agent('zoe')});
    await until(
      () => slots(home),
      found => found.length >= 1,
    );
    await daemon.stop();
  });
});

const faketime = ['/usr/bin/faketime', '/usr/local/bin/faketime'].find(path => existsSync(path));

/** `start --once`, at another time. */
function onceAt(home: string, time: string, zone = 'UTC'): string {
  return execFileSync(faketime ?? '', ['-f', `@${time}`, process.execPath, main, 'start', '--once', '--json'], {
    cwd: home,
    env: {...environment, TZ: zone},
    encoding: 'utf8',
  });
}

describe.runIf(faketime)('by a clock that is set (faketime)', () => {
  it.each([
    ['skip', []],
    ['once', ['2026-11-20T09:00:00.000Z']],
    ['all', ['2026-11-18T09:00:00.000Z', '2026-11-19T09:00:00.000Z', '2026-11-20T09:00:00.000Z']],
  ] as const)('what was missed: %s', async (missed, expected) => {
    const home = await homeWith(`{cron: "0 9 * * *", to: ann, message: Plan, missed: ${missed}}`);
    onceAt(home, '2026-11-17 10:00:00');
    expect(slots(home)).toEqual([]);
    onceAt(home, '2026-11-20 12:00:00');
    expect(slots(home)).toEqual(expected);
    // The clock goes back, and comes to the same time again.
    onceAt(home, '2026-11-20 08:00:00');
    onceAt(home, '2026-11-20 12:00:00');
    expect(slots(home)).toEqual(expected);
    const content = read(home, 'sessions/ann/ann-shared.session.yaml');
    expect(content.includes('due 3 times')).toBe(missed === 'once');
  });

  it('a daemon sees its time come, in the time zone of the machine', async () => {
    const home = await homeWith('{cron: "30 2 * * *", to: ann, message: Night}');
    onceAt(home, '2026-11-20 02:00:00', 'Europe/Berlin');
    const child = spawn(faketime ?? '', ['-f', '@2026-11-20 02:29:57', process.execPath, main, 'start', '--json'], {
      cwd: home,
      env: {...environment, TZ: 'Europe/Berlin'},
      stdio: 'ignore',
    });
    const exited = new Promise(resolve => child.once('exit', resolve));
    onTestFinished(async () => {
      await agentdir(home, ['stop']);
    });
    await until(
      () => slots(home),
      found => found.length === 1,
    );
    // The daemon is a child of this.
    expect((await agentdir(home, ['stop'])).code).toBe(0);
    await exited;
    expect(slots(home)).toEqual(['2026-11-20T01:30:00.000Z']);
    onceAt(home, '2026-11-20 04:00:00', 'Europe/Berlin');
    expect(slots(home)).toHaveLength(1);
  });
});
