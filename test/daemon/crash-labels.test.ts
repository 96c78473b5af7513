import {appendFileSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, describe, expect, it, onTestFinished} from 'vitest';
import {type CrashLabel, crashLabels} from '../../src/home/disk/crash.ts';
import {agentdir, environment, git, put, until} from '../cli/run.ts';
import {answering, expectWellTold, isAnswered, WORKER} from './answering.ts';
import {read, type Served, serve, settled, spawnDaemon} from './serve.ts';
import {expectSound, filesIn, homes, stateOf} from './sound.ts';
import {leastForm, lineOf} from './talk.ts';

const server = await answering();
afterAll(() => server.close());

/** Nobody answers it: it is as the person and the fill-in made it. */
const LEAST = 'agent_id: planner-001 # mine\nstatus: paused\nmessages:\n  - role: user\n    content: Is Redis up?\n';
const MORE = '  - role: user\n    content: And Postgres?\n';
const TASKS = '# Mine\n\n- [ ] @away/planner "ask"\n- [ ] a list of my own\n- [ ] @away/executor "tell"\n\nProse.\n';

/** A session with a model that reads and writes. */
const WORK = 'sessions/work.session.yaml';

const newHome = homes({
  ...WORKER,
  'memory/old.md': 'old\n',
  'tasks/b.task.md': '- [ ] @away/planner "b"\n  id: b1\n',
});

/** What a person does, and how a file reads when the daemon has done its part. Each edit fits whatever is there. */
interface Edit {
  path: string;
  make: (path: string) => void;
  holds: (text: string) => boolean;
}

const count = (text: string, what: RegExp) => text.match(what)?.length ?? 0;
const change = (path: string, how: (text: string) => string) => writeFileSync(path, how(readFileSync(path, 'utf8')));
/** As sed -i does it. */
const renamed = (path: string, text: string) => {
  writeFileSync(`${path}~`, text);
  renameSync(`${path}~`, path);
};

const first: Edit[] = [
  {
    path: WORK,
    make: path => writeFileSync(path, leastForm('write 1', 'worker')),
    holds: text => isAnswered(text, 1),
  },
  {
    path: 'sessions/s1.session.yaml',
    make: path => writeFileSync(path, LEAST),
    holds: text => /^updated:/m.test(text),
  },
  {
    path: 'tasks/a.task.md',
    make: path => writeFileSync(path, TASKS),
    holds: text => count(text, /created:/g) === 2,
  },
  {path: 'memory/new.md', make: path => writeFileSync(path, 'one\n'), holds: text => text === 'one\n'},
  {path: 'memory/old.md', make: path => rmSync(path, {force: true}), holds: text => text === ''},
];
const second: Edit[] = [
  {
    path: WORK,
    make: path => appendFileSync(path, lineOf('write 2')),
    holds: text => isAnswered(text, 2),
  },
  {
    path: 'sessions/s1.session.yaml',
    // From a buffer that knows nothing of what was filled in.
    make: path => renamed(path, LEAST + MORE),
    holds: text => /^updated:/m.test(text) && count(text, /timestamp:/g) === 2,
  },
  {
    path: 'tasks/a.task.md',
    make: path => change(path, text => text.replace('- [ ] @away/planner', '- [x] @away/planner')),
    holds: text => count(text, /created:/g) === 2 && count(text, /completed:/g) === 1,
  },
  {
    path: 'tasks/b.task.md',
    make: path => renamed(path, '- [/] @away/planner "b"\n  id: b1\n- [x] @away/executor "c"\n'),
    holds: text => /started:/.test(text) && /completed:/.test(text) && count(text, /id:/g) === 2,
  },
  {path: 'memory/new.md', make: path => writeFileSync(path, 'one\ntwo\n'), holds: text => text === 'one\ntwo\n'},
];

/** Whether the person goes on while no daemon runs, or waits for one. */
type Patience = 'waits' | 'goes on';

/** The times and ids that the daemon gave to the first session, its first message, and the first task. */
function filledIn(home: string): string {
  const session = read(home, 'sessions/s1.session.yaml');
  const lines = [
    /^created: .*/m.exec(session),
    /timestamp: .*/.exec(session),
    / id: .*/.exec(read(home, 'tasks/a.task.md')),
  ];
  return lines.map(line => line?.[0]).join('\n');
}

interface Run {
  home: string;
  /** How the daemons ended that were to be killed. */
  ends: (number | string | null)[];
}

/** The edits beside a daemon that is killed at the first of `crashes`; the next is killed at the second, and so on. */
async function run(crashes: readonly string[], patience: Patience): Promise<Run> {
  const home = newHome();
  const ends: Run['ends'] = [];
  const start = () => {
    const crash = crashes[ends.length];
    return spawnDaemon(home, {
      OPENAI_BASE_URL: server.url,
      ...(crash === undefined ? {} : {AGENTDIR_CRASH_AT: crash}),
    });
  };
  let daemon = start();
  const isOver = ({child}: Served) => child.exitCode !== null || child.signalCode !== null;
  /** What a failure has to show: the files as they are, and the last that the daemon told. */
  const scene = (wrong: readonly string[]) => ({
    crashes,
    ends,
    errors: daemon.errors(),
    sandbox: daemon.events.filter(({event}) => event === 'sandbox'),
    told: daemon.events.slice(-8),
    wrong: wrong.map(path => read(home, path)),
  });
  const goOn = async () => {
    if (!isOver(daemon)) return;
    const how = await daemon.exited;
    if (ends.length === crashes.length || how !== 'SIGKILL')
      throw new Error(`ended by itself: ${how} ${daemon.errors()}`);
    ends.push(how);
    daemon = start();
  };
  let given: string | undefined;
  for (const [number, edits] of [first, second].entries()) {
    for (const {path, make} of edits) make(join(home, path));
    const {over} = await until(
      async (): Promise<{over?: true; wrong?: string[]; status?: string; scene?: unknown}> => {
        if (number === 0 && patience === 'goes on' && isOver(daemon)) return {over: true};
        await goOn();
        // A look at git's status costs a process: not too often.
        await new Promise(resolve => setTimeout(resolve, 60));
        const wrong = edits.filter(({path, holds}) => !holds(read(home, path))).map(({path}) => path);
        return {
          wrong,
          status: wrong.length === 0 ? await git(home, 'status', '--porcelain') : '',
          scene: scene(wrong),
        };
      },
      ({over, wrong, status}) => over === true || (wrong?.length === 0 && status === ''),
    );
    if (number === 0 && !over) given = filledIn(home);
  }
  // What was committed is merged with the stale save, and not filled in anew: normalised, both would look the same.
  if (given !== undefined) expect(filledIn(home), `${crashes}`).toBe(given);
  const stopped = await daemon.stop();
  if (stopped === 'SIGKILL') {
    ends.push(stopped);
    const last = await agentdir(home, ['start', '--once'], {...environment, OPENAI_BASE_URL: server.url});
    expect(last.stderr).toBe('');
  } else expect(stopped, daemon.errors()).toBe(0);
  return {home, ends};
}

let undisturbed: Promise<Record<string, string>> | undefined;
async function expected(): Promise<Record<string, string>> {
  undisturbed ??= run([], 'waits').then(({home}) => stateBeside(home));
  return undisturbed;
}

/** What was told, what came of the calls, and what it cost is another thing each time. */
function stateBeside(home: string): Record<string, string> {
  const others = Object.entries(stateOf(home)).filter(
    ([path]) => path !== WORK && !/^(?:\.?workspaces|state)\//.test(path),
  );
  return Object.fromEntries(others);
}

/** Labels that these edits do not come by: each has a test of its own, below, in approvals-crash.test.ts, delegation-crash.test.ts, inbox-crash.test.ts, undo-offline.test.ts or with connectors. */
const elsewhere: readonly CrashLabel[] = [
  'conflict-write',
  'spawn-background',
  'journal-pack',
  'move',
  'remove',
  'workspace-commit',
  'delivery',
  'inbox-append',
  'inbox-appended',
  'message-sent',
  'set-aside',
  'command-note',
  'task-start',
  'task-result',
];

const labels = crashLabels.filter(label => !elsewhere.includes(label));
const half = Math.ceil(labels.length / 2);
/** Two labels share a home: the first daemon is killed at one, and the next, which recovers, at the other. The last is tried after each. */
const pairs = labels.slice(0, half).map((label, i) => [label, labels[half + i] ?? 'journal-ref-rename'] as const);
/** Three at a time. */
const threes = Array.from({length: Math.ceil(half / 3)}, (_, i) => pairs.slice(3 * i, 3 * i + 3));

/** A daemon is killed at each of these, `label:n`, one after the other. */
async function expectSame(crashes: readonly string[], patience: Patience): Promise<void> {
  const {home, ends} = await run(crashes, patience);
  // NEEDS_YOU.md is written once in a life where nothing needs anybody; a question has one command.
  const passed = crashes.filter(crash => !/^(?:needs-you-write|spawn-command):(?!1$)/.test(crash));
  expect(ends, `${crashes}`).toEqual(passed.map(() => 'SIGKILL'));
  await expectSound(home);
  expect(stateBeside(home), `${crashes}`).toEqual(await expected());
  expectWellTold(home, WORK, ['write 1', 'write 2']);
  expect(server.violations).toEqual([]);
}

describe('killed at', () => {
  it.each(threes.map(three => ({three, name: three.map(pair => pair.join(' and ')).join(', ')})))(
    '$name: the same comes out',
    async ({three}) => {
      await expected();
      const patience = (i: number): Patience => (i % 2 ? 'goes on' : 'waits');
      await all(
        three.map(pair =>
          expectSame(
            pair.map(label => `${label}:1`),
            patience(pairs.indexOf(pair)),
          ),
        ),
      );
      if (!process.env.FUZZ) return;
      // FUZZ=1 npx vitest run test/daemon/crash-labels.test.ts tries each by itself, at later passages, and again and again.
      for (const counts of [[1], [2], [3], [1, 1, 2]])
        for (const turn of [0, 1])
          for (const i of [0, 1] as const)
            await all(
              three.map(pair => {
                const label = pair[i];
                return expectSame(
                  counts.map(count => `${label}:${count}`),
                  patience(labels.indexOf(label) + turn),
                );
              }),
            );
    },
    600_000 * (Number(process.env.FUZZ ?? 0) ? 8 : 1),
  );

  it('conflict-write: the text that cannot be merged is kept, once', async () => {
    const home = newHome();
    const path = 'sessions/c.session.yaml';
    put(home, {[path]: LEAST});
    const first = await serve(home);
    await settled(home, path, text => /^updated:/m.test(text));
    await first.stop();
    // From a buffer without what was filled in, and with another word in its place.
    const mine = `model: mine\n${LEAST}`;
    put(home, {[path]: mine});
    const second = spawnDaemon(home, {AGENTDIR_CRASH_AT: 'conflict-write:1'});
    expect(await second.exited).toBe('SIGKILL');
    expect(read(home, path)).toBe(mine);
    const third = await serve(home);
    await settled(home, path, text => /^updated:/m.test(text));
    expect(await third.stop()).toBe(0);
    const copies = Object.entries(filesIn(home)).filter(([name]) => name.startsWith('conflicts/'));
    expect(copies.map(([, text]) => text)).toEqual([mine]);
    expect(read(home, 'NEEDS_YOU.md')).toContain('UNMERGED');
    await expectSound(home);
  });

  it('journal-pack: a flood of edits is committed at the next start', async () => {
    const home = newHome();
    const first = await serve(home, {AGENTDIR_CRASH_AT: 'journal-pack:1'});
    // Enough of them at once that their objects become a pack.
    const files = Array.from({length: 80}, (_, i) => [`memory/n${i}.md`, `${i}\n`] as const);
    put(home, Object.fromEntries(files));
    expect(await first.exited).toBe('SIGKILL');
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    for (const [path, text] of files) expect(read(home, path)).toBe(text);
    const log = await git(home, 'log', '--format=%s');
    expect(log.match(/^memory\(n\d+\): created by hand$/gm)).toHaveLength(80);
    await expectSound(home);
  });

  it('spawn-background: the next start serves', async () => {
    const home = newHome();
    const killed = await agentdir(home, ['start', '--background'], {
      ...environment,
      AGENTDIR_CRASH_AT: 'spawn-background:1',
    });
    expect(killed.code).not.toBe(0);
    expect((await agentdir(home, ['status'])).code).toBe(5);
    onTestFinished(async () => {
      await agentdir(home, ['stop']);
    });
    expect((await agentdir(home, ['start', '--background'])).code).toBe(0);
    put(home, {'memory/a.md': 'a\n'});
    await settled(home, 'memory/a.md', text => text === 'a\n');
    expect((await agentdir(home, ['stop'])).code).toBe(0);
    await expectSound(home);
  });
});

/** All of them to their end, then the first failure: nothing may still run when the homes are removed. */
async function all(runs: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(runs)) if (result.status === 'rejected') throw result.reason;
}
