import {appendFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import type {CrashLabel} from '../../src/home/disk/crash.ts';
import {agentdir, environment, git, newHome, until} from '../cli/run.ts';
import {read, type Served, serve, spawnDaemon} from './serve.ts';
import {expectSound} from './sound.ts';

const agent = (id: string) =>
  `id: ${id}\ntype: t\nmodel: playbook\nsystem_prompt: You wait.\ncapabilities: [list_agents]\n`;
const lineOf = (text: string, rest = {}) => `${JSON.stringify({text, ...rest})}\n`;

async function homeWithInbox(): Promise<string> {
  const home = await newHome({
    'agentdir.yaml': 'format: 1\ndefault_agent: ann\n',
    'templates/ann.agent.yaml': agent('ann'),
    'templates/bob.agent.yaml': agent('bob'),
  });
  await git(home, 'add', '--', 'agentdir.yaml', 'templates');
  await git(home, 'commit', '--quiet', '--message=before');
  return home;
}

/** The texts of all messages from inboxes, wherever they are. */
function texts(home: string): string[] {
  const files = readdirSync(join(home, 'sessions'), {recursive: true}).map(String);
  const all = files
    .filter(file => file.endsWith('.yaml'))
    .map(file => readFileSync(join(home, 'sessions', file), 'utf8'));
  return all
    .flatMap(text =>
      [...text.matchAll(/from: inbox\/.*\n {4}content: (?:\|-\n +)?(.*)/g)].map(([, content = '']) => content),
    )
    .sort();
}

const rejected = (home: string) =>
  read(home, 'inbox/rejected/in.jsonl')
    .split('\n')
    .filter(line => line !== '')
    .map(line => (JSON.parse(line) as {text: string}).text);

it('each line comes once, however often a daemon is killed before it wrote down how far it had read', async () => {
  const home = await homeWithInbox();
  const place = join(home, 'inbox/in.jsonl');
  const once = async () => {
    expect((await agentdir(home, ['start', '--once'])).code).toBe(0);
    rmSync(join(home, 'state/inbox/in.yaml'), {force: true});
  };
  await once();
  appendFileSync(place, lineOf('one') + lineOf('two'));
  await once();
  appendFileSync(place, lineOf('three') + lineOf('four'));
  await once();
  // What is left of it is read as the file that it was.
  appendFileSync(place, lineOf('five'));
  renameSync(place, `${place}.1`);
  appendFileSync(place, lineOf('six'));
  await once();
  renameSync(`${place}.1`, `${place}.2`);
  renameSync(place, `${place}.1`);
  appendFileSync(place, lineOf('seven'));
  await once();
  expect(texts(home)).toEqual(['one', 'two', 'three', 'four', 'five', 'six', 'seven'].sort());
});

/** What happens to the inbox, a part at a time; what must have come of it all. */
const LONG = 500;
const parts: ((place: string) => void)[] = [
  place =>
    appendFileSync(
      place,
      [lineOf('one'), 'bad one\n', lineOf('two', {to: 'bob'}), lineOf('three', {thread: 'T'})].join(''),
    ),
  place => {
    renameSync(place, `${place}.1`);
    appendFileSync(`${place}.1`, lineOf('four'));
    appendFileSync(place, [lineOf('one'), 'bad two\n', lineOf('five')].join(''));
  },
  place => {
    writeFileSync(`${place}.tmp`, [lineOf('zero'), lineOf('five'), lineOf('six')].join(''));
    renameSync(`${place}.tmp`, place);
  },
  place => appendFileSync(place, Array.from({length: LONG}, (_, i) => lineOf(`many${i} ${'x'.repeat(150)}`)).join('')),
];
const many = Array.from({length: LONG}, (_, i) => `many${i} ${'x'.repeat(150)}`);
const expected = ['one', 'two', 'three', 'four', 'one', 'five', 'zero', 'six', ...many].sort();

/** Killed at the passage of a label, again and again, while the inbox goes on. */
async function run(label: CrashLabel, counts: readonly number[]): Promise<number> {
  const home = await homeWithInbox();
  const crashes = counts.map(count => `${label}:${count}`);
  let killed = 0;
  const start = () => spawnDaemon(home, crashes[killed] === undefined ? {} : {AGENTDIR_CRASH_AT: crashes[killed]});
  let daemon: Served = start();
  const goOn = async () => {
    if (daemon.child.exitCode === null && daemon.child.signalCode === null) return;
    expect(await daemon.exited, daemon.errors()).toBe('SIGKILL');
    killed++;
    daemon = start();
  };
  const sizes = [3, 6, 8, expected.length];
  for (const [i, part] of parts.entries()) {
    part(join(home, 'inbox/in.jsonl'));
    await until(
      async () => {
        await goOn();
        const size = readFileSync(join(home, 'inbox/in.jsonl')).length;
        return {found: texts(home).length, read: read(home, 'state/inbox/in.yaml').includes(`offset: ${size}\n`), size};
      },
      ({found, read}) => found >= (sizes[i] ?? 0) && read,
    );
  }
  expect(texts(home), `${crashes}`).toEqual(expected);
  expect(rejected(home), `${crashes}`).toEqual(['bad one', 'bad two']);
  writeFileSync(join(home, 'inbox/rejected/in.jsonl'), '');
  await daemon.stop();
  const last = await agentdir(home, ['start', '--once'], environment);
  expect(last.stderr).toBe('');
  await expectSound(home);
  expect(texts(home)).toEqual(expected);
  return killed;
}

/** Labels of inboxes, and one save. The others are killed in crash-labels.test.ts, and in simulation at every step of a delivery. */
const all: readonly (readonly CrashLabel[])[] = [
  ['delivery', 'set-aside', 'save-rename'],
  ...(process.env.FUZZ
    ? ([
        ['save-check', 'save-fsync', 'save-temp'],
        ['save-keep', 'save-unlock', 'save-lock'],
        ['journal-ref-rename', 'journal-index-rename', 'needs-you-write'],
      ] as const)
    : []),
];

describe('killed at', () => {
  it.each(all.map(labels => ({labels})))(
    '$labels: each line comes once, and each bad one is set aside once',
    async ({labels}) => {
      const runs = labels.map(label =>
        run(label, label === 'set-aside' ? [1, 1] : process.env.FUZZ ? [1, 2, 3, 2, 1] : [1]),
      );
      for (const result of await Promise.allSettled(runs)) {
        if (result.status === 'rejected') throw result.reason;
        expect(result.value).toBeGreaterThanOrEqual(1);
      }
    },
  );

  it('moments at random: the same', async () => {
    const home = await homeWithInbox();
    const place = join(home, 'inbox/in.jsonl');
    let written = 0;
    for (let round = 0; round < (process.env.FUZZ ? 12 : 3); round++) {
      const daemon = await serve(home);
      for (let i = 0; i < 5; i++)
        appendFileSync(place, Array.from({length: 50}, () => lineOf(`n${written++}`)).join(''));
      await new Promise(resolve => setTimeout(resolve, 20 + 80 * round));
      await daemon.kill();
    }
    const last = await serve(home);
    await until(
      () => texts(home).length,
      length => length >= written,
    );
    expect(texts(home)).toEqual(Array.from({length: written}, (_, i) => `n${i}`).sort());
    await last.stop();
  });
});
