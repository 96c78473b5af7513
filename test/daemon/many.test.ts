import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, expect, it} from 'vitest';
import {fieldOf} from '../../src/formats/task/task.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {put, until} from '../cli/run.ts';
import {startFakeOpenAI} from '../model/fake-openai.mjs';
import {read, serve} from './serve.ts';
import {homes} from './sound.ts';

/** AGENTS=1000 npx vitest run test/daemon/many.test.ts is the whole of what the issue asks for. */
const AGENTS = Number(process.env.AGENTS ?? 60);
const TASKS = AGENTS * 10;
const A_FILE = 100;

const server = await startFakeOpenAI({keep: false, answer: () => ({text: 'noted'})});
afterAll(() => server.close());
const newHome = homes({
  'agentdir.yaml': 'format: 1\nconcurrency: 32\n',
  ...Object.fromEntries(
    Array.from({length: AGENTS}, (_, i) => [
      `templates/a${i}.agent.yaml`,
      `id: a${i}\ntype: worker\nsystem_prompt: You work.\ncapabilities: [update_task]\n`,
    ]),
  ),
});

/** One in ten is done, one in ten waits for one that is, one in ten for one that is not. */
const kindOf = (n: number): 'done' | 'after' | 'waits' | 'free' =>
  (['done', 'after', 'waits'] as const)[n % 10] ?? 'free';
const isReady = (n: number) => kindOf(n) === 'after' || kindOf(n) === 'free';

function taskText(n: number): string {
  const fields = [`id: t${n}`];
  if (kindOf(n) === 'done') fields.push('completed: 2026-01-01T00:00:00.000Z');
  // In other files, mostly.
  if (kindOf(n) === 'after') fields.push(`depends_on: t${(n + 499) % TASKS}`);
  if (kindOf(n) === 'waits') fields.push(`depends_on: t${(n + 501) % TASKS}`);
  const head = `- [${kindOf(n) === 'done' ? 'x' : ' '}] ${'ABCD'[n % 4]} @a${(n * 7) % AGENTS} "task ${n}"`;
  return [head, ...fields.map(field => `  ${field}`)].join('\n');
}

const taskFiles = (home: string) => readdirSync(join(home, 'tasks')).filter(name => name.startsWith('many-'));

function undelivered(home: string): number {
  let left = 0;
  for (const name of taskFiles(home))
    for (const task of parseTasks(read(home, `tasks/${name}`)).tasks)
      if (isReady(Number(fieldOf(task, 'id')?.slice(1))) && task.state !== 'in_progress') left++;
  return left;
}

it(`${AGENTS} agents and ${TASKS} tasks in one home: each that is ready is delivered once, the others are not`, async () => {
  const home = newHome();
  const numbers = Array.from({length: TASKS}, (_, n) => n);
  for (let from = 0; from < TASKS; from += A_FILE)
    put(home, {
      [`tasks/many-${from}.task.md`]: `## TODO\n\n${numbers
        .slice(from, from + A_FILE)
        .map(taskText)
        .join('\n')}\n`,
    });
  const env = {OPENAI_BASE_URL: server.url, OPENAI_MODEL: 'fake-1'};
  const began = performance.now();
  const first = await serve(home, env);
  const serves = performance.now() - began;
  await until(
    async () => {
      await new Promise(resolve => setTimeout(resolve, 500));
      return undelivered(home);
    },
    left => left === 0,
    300_000,
  );
  const took = performance.now() - began;
  expect(await first.stop(), first.errors()).toBe(0);
  // Another finds nothing more to deliver.
  const again = await serve(home, env);
  expect(await again.stop(), again.errors()).toBe(0);
  const times = new Map<string, number>();
  for (const path of readdirSync(join(home, 'sessions'), {recursive: true}).map(String))
    if (path.endsWith('.session.yaml'))
      for (const [, id = ''] of read(home, join('sessions', path)).matchAll(/delivery: '?task\/(t\d+)#\d+'?$/gm))
        times.set(id, (times.get(id) ?? 0) + 1);
  expect(numbers.filter(n => (times.get(`t${n}`) ?? 0) !== (isReady(n) ? 1 : 0))).toEqual([]);
  expect(server.violations).toEqual([]);
  if (process.env.AGENTS)
    console.log(`served after ${Math.round(serves)} ms, all delivered after ${Math.round(took)} ms`);
}, 400_000);
