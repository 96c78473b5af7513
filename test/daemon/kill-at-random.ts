import {setImmediate as turn} from 'node:timers/promises';
import {expect} from 'vitest';
import {parseSession} from '../../src/files/session.ts';
import {fieldOf} from '../../src/files/task.ts';
import {parseTasks} from '../../src/files/task-parse.ts';
import {git, until} from '../cli/run.ts';
import {Person, type Random, randomFrom} from './person.ts';
import {read, spawnDaemon} from './serve.ts';
import {expectSound, filesIn, versions} from './sound.ts';

/** Kill the daemon of this home so many times while a person works in it; then look what became of their work. */
export async function killAtRandom(home: string, seed: number, kills: number): Promise<void> {
  const random = randomFrom(seed);
  const person = new Person(home, randomFrom(seed ^ 0x5eed));
  let over = false;
  const work = person.work(() => over);
  for (let i = 0; i < kills; i++) await liveShortly(home, random);
  over = true;
  await work;
  person.finish();
  const last = spawnDaemon(home);
  await until(
    async () => {
      await new Promise(resolve => setTimeout(resolve, 60));
      return unfinishedIn(filesIn(home)) ?? (await git(home, 'status', '--porcelain'));
    },
    left => left === '',
    30_000,
  );
  expect(await last.stop(), last.errors()).toBe(0);
  await expectSound(home);
  expectNothingLost(home, person);
  await expectFilledInOnce(home);
}

/** Some lives end at any moment of their start; the rest after they served for a while. */
async function liveShortly(home: string, random: Random): Promise<void> {
  const daemon = spawnDaemon(home);
  const gone = daemon.exited.then(() => true);
  if (random() < 0.4) {
    await until(
      () => daemon.child.exitCode !== null || daemon.events.some(({event}) => event === 'serving'),
      yes => yes,
    );
  }
  const ended = await Promise.race([
    gone,
    new Promise<false>(resolve => setTimeout(() => resolve(false), random() * 250)),
  ]);
  if (ended) throw new Error(`the daemon ended by itself: ${daemon.child.exitCode} ${daemon.errors()}`);
  await daemon.kill();
}

/** What the daemon has yet to fill in; undefined if nothing. */
function unfinishedIn(files: Record<string, string>): string | undefined {
  for (const [path, text] of Object.entries(files)) {
    if (path.startsWith('sessions/s')) {
      const {header, messages} = parseSession(text);
      if (header?.updated === undefined || messages.some(({timestamp}) => timestamp === undefined)) return path;
    }
    if (!path.startsWith('tasks/t')) continue;
    for (const {fields, state, names} of parseTasks(text).tasks) {
      const keys = fields.map(({key}) => key);
      if (names.length > 0 && !keys.includes('id')) return path;
      if (state === 'completed' && !keys.includes('completed')) return path;
    }
  }
  return undefined;
}

function expectNothingLost(home: string, person: Person): void {
  const files = filesIn(home);
  const conflicts = Object.entries(files).filter(([path]) => path.startsWith('conflicts/'));
  const lost = person.marks.filter(({path, mark, done}) => {
    const text = read(home, path);
    const times = text.split(mark).length - 1;
    const ticked = !done || text.includes(`- [x] @planner-001 "${mark}"`);
    if (times === 1 && ticked) return false;
    return times > 1 || !conflicts.some(([, copy]) => copy.includes(mark));
  });
  const told = lost.map(({path, mark, done}) => ({
    path,
    mark,
    done,
    lines: read(home, path)
      .split('\n')
      .filter(line => line.includes(mark)),
  }));
  expect(told, 'lost, or there twice').toEqual([]);
  expect(person.removed.filter(path => path in files)).toEqual([]);
  // One who saves from what they read, however stale, leaves nothing that cannot be merged.
  if (person.slowest < 500) expect(conflicts).toEqual([]);
}

/** An id or a time that was ever committed is that task's or message's for good: no stale save makes it a new one. */
async function expectFilledInOnce(home: string): Promise<void> {
  const given = new Map<string, Set<string>>();
  const note = (what: string, value: string | undefined) => {
    if (value !== undefined) given.set(what, (given.get(what) ?? new Set()).add(value));
  };
  for (const [path, text] of await versions(home)) {
    if (path.startsWith('tasks/t'))
      for (const task of parseTasks(text).tasks) note(`${path} ${task.title}`, fieldOf(task, 'id'));
    if (path.startsWith('sessions/s'))
      for (const {content, timestamp} of parseSession(text).messages) note(`${path} ${content}`, timestamp);
    await turn();
  }
  expect([...given].filter(([, values]) => values.size > 1).map(([what, values]) => [what, ...values])).toEqual([]);
}
