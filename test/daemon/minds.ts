import {mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect} from 'vitest';
import type {Task} from '../../src/formats/task/task.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {agentdir, git, put, thorough, until} from '../cli/run.ts';
import type {ChatRequest, Reaction} from '../model/fake-openai.mjs';
import {startFakeOpenAI} from '../model/fake-openai.mjs';
import {expectReplayed} from '../replayed.ts';
import {clean, read, type Served, serve} from './serve.ts';
import {expectSound, filesIn} from './sound.ts';

/** What an agent does; asked with what it is sent. */
type Mind = (said: {last: string; tools: number; all: ChatRequest['messages']}) => Reaction | Promise<Reaction>;

/** A server for all tests of a file: what agents do, by name. */
export async function startMinds() {
  const minds = new Map<string, Mind>();
  const server = await startFakeOpenAI({
    keep: false,
    answer: ({messages}) => {
      const system = String(messages[0]?.content ?? '');
      const name = /^You are (\S+)\./.exec(system)?.[1] ?? '';
      const last = messages.at(-1);
      const text = String(messages.findLast(({role}) => role === 'user')?.content ?? '');
      const since = messages.slice(messages.findLastIndex(({role}) => role === 'user'));
      const tools = since.filter(({role}) => role === 'tool').length;
      return minds.get(name)?.({last: text, tools, all: messages}) ?? {text: `${name} heard: ${last?.role}`};
    },
  });
  afterAll(() => server.close());
  return {minds, server, env: {OPENAI_BASE_URL: server.url, OPENAI_MODEL: 'fake-1'}};
}

/** One home and daemon for all tests of a file; each test has task files and agents of its own. In the end it is sound. */
export function openTaskHouse(files: Record<string, string>, env: NodeJS.ProcessEnv): {home: string; daemon: Served} {
  const dir = mkdtempSync(join(tmpdir(), 'agentdir-test-'));
  const house = {home: join(dir, 'home')} as {home: string; daemon: Served};
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    expect((await agentdir(dir, ['init', house.home])).stderr).toBe('');
    put(house.home, files);
    await git(house.home, 'add', '--', ...Object.keys(files));
    await git(house.home, 'commit', '--quiet', '--message=before');
    house.daemon = await serve(house.home, env, end => ends.push(end));
  });
  afterAll(async () => {
    try {
      await until(
        () => Object.entries(filesIn(house.home)).filter(([, text]) => /^status: active$/m.test(text)),
        active => active.length === 0,
      );
      await clean(house.home);
      expect(await house.daemon.stop(), house.daemon.errors()).toBe(0);
      await expectSound(house.home);
      if (thorough) await expectReplayed(house.home);
    } finally {
      for (const end of ends) await end();
      rmSync(dir, {recursive: true, force: true, maxRetries: 20, retryDelay: 50});
    }
  });
  return house;
}

/** A template with the tools for tasks and messages, or these. */
export const agent = (name: string, more = '', tools = 'create_task, update_task, send_message, list_agents') =>
  `id: ${name}\ntype: worker\nsystem_prompt: You are ${name}.\ncapabilities: [${tools}]\n${more}`;

export const done = (id: string, note: string): Reaction => ({
  calls: [{name: 'update_task', arguments: {id, status: 'completed', note}}],
});
export const idIn = (text: string) => /^Id: (\S+)$/m.exec(text)?.[1] ?? '';

export const tasksOf = (home: string, path: string) => parseTasks(read(home, path)).tasks;
export const taskNamed = (home: string, path: string, title: string): Task | undefined =>
  tasksOf(home, path).find(task => task.title === title);
/** All sessions of an agent, one after the other. */
export const sessionsOf = (home: string, name: string): string =>
  readdirSync(join(home, 'sessions', name), {recursive: true})
    // What is just being written has another name.
    .filter(file => /(?:^|\/)[^./][^/]*\.session\.yaml$/.test(String(file)))
    .map(file => read(home, join('sessions', name, String(file))))
    .join('\n');
export const whenTask = (home: string, path: string, title: string, holds: (task: Task) => boolean) =>
  until(
    () => ({task: taskNamed(home, path, title), text: read(home, path)}),
    ({task}) => task !== undefined && holds(task),
  );
export {clean};
