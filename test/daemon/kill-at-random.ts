import {setImmediate as turn} from 'node:timers/promises';
import {expect, it, onTestFinished} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {fieldOf} from '../../src/formats/task/task.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {git, until} from '../cli/run.ts';
import type {FakeOpenAI} from '../model/fake-openai.mjs';
import {answering, expectWellTold, WORKER} from './answering.ts';
import {Asker} from './asker.ts';
import {Person, type Random, randomFrom} from './person.ts';
import {read, spawnDaemon} from './serve.ts';
import {expectSound, filesIn, homes, versions} from './sound.ts';

const SESSIONS = 25;
const QUESTIONS = 3;
/** What the person who edits does in each life, about. */
const EDITS = 3;

/** In two homes side by side, each of these kills. */
export function killedAtRandom(seed: number, times: number): void {
  const newHome = homes(WORKER);
  const factor = Math.max(1, Number(process.env.FUZZ ?? 1));
  const kills = Math.ceil(times * factor);
  it(
    `killed ${2 * kills} times at random moments, in two homes with fifty sessions: nothing is lost, nothing is done twice`,
    async () => {
      const first = process.env.FUZZ ? Date.now() + seed : seed;
      const seeds = [first, first + 100];
      const results = await Promise.allSettled(seeds.map(each => killAtRandom(newHome(), each, kills)));
      for (const [i, result] of results.entries())
        if (result.status === 'rejected') throw new Error(`seed ${seeds[i]}: ${result.reason}`, {cause: result.reason});
    },
    600_000 * factor,
  );
}

/**
 * Kill the daemon of this home so many times while one person edits its files and another talks to many agents; then
 * look what became of their work. The model's answers are those of `answering`.
 */
async function killAtRandom(home: string, seed: number, kills: number): Promise<void> {
  const random = randomFrom(seed);
  const model = await answering();
  onTestFinished(() => model.close());
  const person = new Person(home, randomFrom(seed ^ 0x5eed));
  const asker = new Asker(home, randomFrom(seed ^ 0xa5ce), SESSIONS, QUESTIONS);
  let over = false;
  let lives = 0;
  // However slow the machine is, so much is done in each life.
  const pace = (each: number) => {
    let done = 0;
    return async () => {
      await pause(random() * 60);
      for (done++; done > each * lives && !over; ) await pause(10);
    };
  };
  const work = Promise.all([person.work(() => over, pace(EDITS)), asker.work(() => over, pace(1))]);
  for (; lives < kills; lives++) await liveShortly(home, random, model);
  over = true;
  await work;
  person.finish();
  const last = spawnDaemon(home, {OPENAI_BASE_URL: model.url});
  await until(
    async () => {
      await new Promise(resolve => setTimeout(resolve, 100));
      return unfinishedIn(filesIn(home)) ?? (await git(home, 'status', '--porcelain'));
    },
    left => left === '',
  );
  expect(await last.stop(), last.errors()).toBe(0);
  await expectSound(home);
  expectNothingLost(home, person);
  for (const [path, questions] of asker.asked) expectWellTold(home, path, questions);
  await expectFilledInOnce(home);
  expect(model.violations).toEqual([]);
  expect(model.errors).toEqual([]);
}

/** Some lives end at any moment of their start; most in the midst of their work, a while after a model was asked. */
async function liveShortly(home: string, random: Random, model: FakeOpenAI): Promise<void> {
  const daemon = spawnDaemon(home, {OPENAI_BASE_URL: model.url});
  const gone = daemon.exited.then(() => true);
  const works = random() < 0.5;
  const when = random();
  const asked = model.count;
  const due = works ? whenAsked(model, asked + Math.ceil(when * 6)) : pause(when * 200);
  const ended = await Promise.race([gone, due]);
  if (ended === true) throw new Error(`the daemon ended by itself: ${daemon.child.exitCode} ${daemon.errors()}`);
  await daemon.kill();
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** When a model was asked so often in all, or not any more for a while. */
async function whenAsked(model: FakeOpenAI, count: number): Promise<void> {
  const began = performance.now();
  let last = began;
  for (let seen = model.count; model.count < count; ) {
    await pause(2);
    const now = performance.now();
    if (model.count > seen) last = now;
    seen = model.count;
    if (now - last > (last === began ? 3_000 : 200)) break;
  }
  await pause(Math.random() * 10);
}

/** What the daemon has yet to fill in or to answer; undefined if nothing. */
function unfinishedIn(files: Record<string, string>): string | undefined {
  for (const [path, text] of Object.entries(files)) {
    if (path.endsWith('.session.yaml') && !path.startsWith('conflicts/')) {
      const {header, messages} = parseSession(text);
      const answered = header?.status === 'sleeping' && messages.at(-1)?.role === 'assistant';
      if (!answered || messages.some(({timestamp}) => timestamp === undefined)) return path;
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
    const ticked = !done || text.includes(`- [x] @away/planner "${mark}"`);
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

/** An id or a time that was ever committed is that task's, message's or call's for good: no stale save makes a new one. */
async function expectFilledInOnce(home: string): Promise<void> {
  const given = new Map<string, Set<string>>();
  const note = (what: string, value: string | undefined) => {
    if (value !== undefined) given.set(what, (given.get(what) ?? new Set()).add(value));
  };
  for (const [path, text] of await versions(home)) {
    if (path.startsWith('tasks/t'))
      for (const task of parseTasks(text).tasks) note(`${path} ${task.title}`, fieldOf(task, 'id'));
    if (path.endsWith('.session.yaml'))
      for (const {content, timestamp, tool_calls, tool_call_id} of parseSession(text).messages) {
        note(`${path} ${tool_call_id ?? tool_calls?.[0]?.id} ${content}`, timestamp);
        for (const {id, started} of tool_calls ?? []) note(`${path} ${id} started`, started);
      }
    await turn();
  }
  expect([...given].filter(([, values]) => values.size > 1).map(([what, values]) => [what, ...values])).toEqual([]);
}
