import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {agentdir, environment, git, newHome, until} from '../cli/run.ts';
import {read, serve, spawnDaemon} from './serve.ts';

const agent = (id: string) =>
  `id: ${id}\ntype: t\nmodel: playbook\nsystem_prompt: You wait.\ncapabilities: [list_agents]\n`;

/** A home, and the inbox in.jsonl, whose lines go to two agents in turn. Every fifth line is no message. */
async function homeWithLog() {
  const home = await newHome({
    'agentdir.yaml': 'format: 1\ndefault_agent: ann\n',
    'templates/ann.agent.yaml': agent('ann'),
    'templates/bob.agent.yaml': agent('bob'),
  });
  await git(home, 'add', '--', 'agentdir.yaml', 'templates');
  await git(home, 'commit', '--quiet', '--message=before');
  const place = (suffix = '') => join(home, `inbox/in.jsonl${suffix}`);
  const written: string[] = [];
  const write = (count = 3) => {
    let text = '';
    for (let i = 0; i < count; i++) {
      const word = `line ${written.length}`;
      const to = written.length % 2 ? 'ann' : 'bob';
      text += written.length % 5 === 4 ? `${word}\n` : `${JSON.stringify({text: word, to})}\n`;
      written.push(word);
    }
    appendFileSync(place(), text);
  };
  /** Numbered files move up. */
  const shift = () => {
    const numbers = readdirSync(join(home, 'inbox')).flatMap(name => /^in\.jsonl\.(\d+)(\.gz)?$/.exec(name) ?? []);
    const names = numbers.filter(name => name?.startsWith('in.')).sort((a, b) => numberOf(b) - numberOf(a));
    for (const name of names)
      renameSync(join(home, 'inbox', name), join(home, 'inbox', name.replace(/\d+/, `${numberOf(name) + 1}`)));
  };
  const copy = () => {
    shift();
    copyFileSync(place(), place('.1'));
  };
  const rotate = {
    rename() {
      shift();
      renameSync(place(), place('.1'));
    },
    copytruncate() {
      copy();
      truncateSync(place());
    },
  };
  const compress = (suffix: string) => {
    writeFileSync(place(`${suffix}.gz`), gzipSync(readFileSync(place(suffix))));
    rmSync(place(suffix));
  };
  const once = async (crash?: string) => {
    if (crash !== undefined) return spawnDaemon(home, {AGENTDIR_CRASH_AT: crash}).exited;
    return (await agentdir(home, ['start', '--once'], environment)).code;
  };
  return {home, place, written, write, copy, rotate, compress, once, arrived: () => arrived(home)};
}

const numberOf = (name: string) => Number(/\d+/.exec(name)?.[0]);

/** Lines that were delivered or rejected. */
function arrived(home: string): string[] {
  const sessions = readdirSync(join(home, 'sessions'), {recursive: true}).map(String);
  const messages = sessions
    .filter(file => file.endsWith('.yaml'))
    .flatMap(file => parseSession(readFileSync(join(home, 'sessions', file), 'utf8')).messages)
    .filter(({from}) => from?.startsWith('inbox/'))
    .map(({content}) => content?.split('\n')[0] ?? '');
  const rejected = existsSync(join(home, 'inbox/rejected/in.jsonl'))
    ? read(home, 'inbox/rejected/in.jsonl').trim().split('\n')
    : [];
  const words = rejected.filter(line => line !== '').map(line => (JSON.parse(line) as {text: string}).text);
  return [...messages, ...words].sort((a, b) => numberOf(a) - numberOf(b));
}

const ways = ['rename', 'copytruncate'] as const;

describe('every line comes once, and every bad line is rejected once,', () => {
  it.each(ways)('if the log is rotated by %s, the daemon stops, and the log is copied and truncated', async way => {
    const {write, rotate, once, arrived, written} = await homeWithLog();
    write();
    await once();
    rotate[way]();
    write(0);
    await once();
    write();
    rotate.copytruncate();
    await once();
    expect(arrived()).toEqual(written);
  });

  it.each(ways)(
    'if the log is empty at the first start, and filled and rotated by %s while no daemon runs',
    async way => {
      const {write, rotate, once, arrived, written} = await homeWithLog();
      write(0);
      await once();
      for (let n = 0; n < 2; n++) {
        write();
        rotate[way]();
        write(0);
      }
      write(2);
      await once();
      expect(arrived()).toEqual(written);
    },
  );

  // Simulation dies at random steps of such histories (`npm run simulate -- --rotations`); FUZZ=1 tries each of these with both ways.
  const early = {
    rename: ['delivery:1', 'set-aside:1', 'save-rename:2'],
    copytruncate: ['delivery:2', 'save-rename:1'],
  };
  it.each(ways)('if the daemon is killed before it has read the file once, and the log is rotated by %s', async way => {
    for (const crash of process.env.FUZZ ? Object.values(early).flat() : early[way]) {
      const {write, rotate, once, arrived, written} = await homeWithLog();
      write(9);
      expect(await once(crash)).toBe('SIGKILL');
      write();
      rotate[way]();
      write();
      expect(await once(crash)).toBe('SIGKILL');
      rotate[way]();
      write();
      await once();
      expect(arrived(), crash).toEqual(written);
    }
  });

  it.each(ways)('if the log is rotated by %s 25 times while no daemon runs, and compressed', async way => {
    const {write, rotate, compress, once, arrived, written} = await homeWithLog();
    write();
    await once();
    for (let n = 0; n < 25; n++) {
      write();
      rotate[way]();
      if (n % 2) compress('.1');
      write(0);
    }
    write();
    await once();
    expect(arrived()).toEqual(written);
    // Nothing is read again when the files of a finished rotation are compressed or move on.
    compress('.1');
    rotate[way]();
    write();
    await once();
    await once();
    expect(arrived()).toEqual(written);
  });

  it('if lines come between copy and truncation, and are read', async () => {
    const {home, place, write, copy, arrived, written} = await homeWithLog();
    const daemon = await serve(home);
    write();
    await until(arrived, found => found.length === 3);
    for (let n = 0; n < 3; n++) {
      write();
      copy();
      write();
      await until(arrived, found => found.length === written.length);
      truncateSync(place());
      write(1);
      await until(arrived, found => found.length >= written.length);
    }
    expect(await daemon.stop()).toBe(0);
    expect(arrived()).toEqual(written);
  });

  it('if a file that was never seen begins with a line that was delivered before', async () => {
    const {place, write, rotate, once, arrived, written} = await homeWithLog();
    const hello = `${JSON.stringify({text: 'line 0'})}\n`;
    writeFileSync(place(), hello);
    written.push('line 0');
    write();
    await once();
    for (let n = 0; n < 2; n++) {
      rotate.rename();
      writeFileSync(place(), hello);
      write();
    }
    await once();
    expect(arrived()).toEqual(['line 0', 'line 0', ...written]);
  });

  it.each(ways)('while the log is rotated by %s and daemons are killed', async way => {
    const {home, write, rotate, once, arrived, written} = await homeWithLog();
    await once();
    const labels = ['delivery', 'set-aside', 'save-rename', 'save-check', 'version-sync', 'journal-ref-rename'];
    let crash = 0;
    const start = () =>
      spawnDaemon(home, crash < labels.length ? {AGENTDIR_CRASH_AT: `${labels[crash]}:${1 + (crash % 3)}`} : {});
    let daemon = start();
    const grown = (length: number) =>
      until(
        () => {
          if (daemon.child.exitCode !== null || daemon.child.signalCode !== null) {
            crash++;
            daemon = start();
          }
          return arrived().length;
        },
        count => count >= length,
      );
    for (let n = 0; n < 12; n++) {
      write(7);
      if (n % 2) rotate[way]();
      write(1);
      if (n % 3 === 2) await grown(8 * (n - 3));
    }
    await grown(written.length);
    await daemon.stop();
    await agentdir(home, ['start', '--once']);
    expect(arrived()).toEqual(written);
  });
});
