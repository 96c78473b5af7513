import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {parseSession, type Session} from '../../src/formats/session/session.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {git, newHome, put, until} from '../cli/run.ts';
import {type ChatRequest, type FakeOpenAI, type Reaction, startFakeOpenAI} from '../model/fake-openai.mjs';
import {read} from './serve.ts';
import {leastForm} from './talk.ts';

/** What the model does in a conversation: `nth` counts its requests, from 0. */
export type Part = (request: ChatRequest, nth: number) => Reaction | Promise<Reaction>;

/** A home with the agent `boss`, which may delegate, and `hand`, which does what it is told. */
export interface Team {
  home: string;
  server: FakeOpenAI;
  env: NodeJS.ProcessEnv;
  /** By the first word of the first message. */
  parts: Map<string, Part>;
  asked: (topic: string) => ChatRequest[];
}

export const BOSS = `id: boss
type: boss
description: Gives work to others.
system_prompt: You delegate.
capabilities: [task, agent_spawn, agent_list, send_message, list_agents, create_file, fetch]
`;
export const HAND = `id: hand
type: hand
description: Does what it is told.
system_prompt: You work.
capabilities: [task, agent_spawn, read_file, create_file, execute_command, list_agents, send_message]
`;
export const POLICY =
  'version: 1\ncommands: {allow: ["sleep *", "touch *"]}\ntools: {task: allow, create_file: allow}\n';

const topicOf = ({messages}: ChatRequest) => {
  const first = messages.find(({role}) => role === 'user')?.content ?? '';
  return first.replace(/^Message from [^\n]*\n(?:`{3,}\n)?/, '').split(/\W/)[0] ?? '';
};

export async function gatherTeam(files: Record<string, string> = {}): Promise<Team> {
  const asked = new Map<string, ChatRequest[]>();
  const parts = new Map<string, Part>();
  const server = await startFakeOpenAI({
    keep: false,
    answer: async request => {
      const topic = topicOf(request);
      const all = asked.get(topic) ?? [];
      asked.set(topic, [...all, request]);
      return (await parts.get(topic)?.(request, all.length)) ?? {text: `done ${all.length}`};
    },
  });
  onTestFinished(() => server.close());
  const all = {
    'templates/boss.agent.yaml': BOSS,
    'templates/hand.agent.yaml': HAND,
    'allowlist.yaml': POLICY,
    ...files,
  };
  const home = await newHome(all);
  await git(home, 'add', '-A');
  await git(home, 'commit', '-qm', 'mine');
  const env = {OPENAI_BASE_URL: server.url, OPENAI_MODEL: 'fake-1', OPENAI_API_KEY: 'sk-test'};
  return {home, server, env, parts, asked: topic => asked.get(topic) ?? []};
}

/** A call of the tool `task`, as a model makes it. */
export const taskCall = (id: string, description: string, more: object = {}) => ({
  id,
  name: 'task',
  arguments: {agent_type: 'hand', description, ...more},
});

export function beginWith(home: string, id: string, text: string, agent = 'boss'): void {
  put(home, {[`sessions/${id}.session.yaml`]: leastForm(text, agent)});
}

/** The path of a session, wherever it lies. */
export function pathOfSession(home: string, id: string): string | undefined {
  const below = (folder: string): string | undefined => {
    for (const entry of existsSync(join(home, folder)) ? readdirSync(join(home, folder), {withFileTypes: true}) : []) {
      const found = entry.isDirectory() ? below(`${folder}/${entry.name}`) : undefined;
      if (found) return found;
      if (entry.name === `${id}.session.yaml`) return `${folder}/${entry.name}`;
    }
    return undefined;
  };
  return below('sessions');
}

export function sessionIn(home: string, id: string): Session | undefined {
  const path = pathOfSession(home, id);
  return path === undefined ? undefined : parseSession(read(home, path));
}

/** The session once it is as `holds` says. */
export async function whenSession(
  home: string,
  id: string,
  holds: (session: Session) => boolean,
  ms?: number,
): Promise<Session> {
  const found = await until(
    () => sessionIn(home, id),
    session => session?.header !== undefined && holds(session),
    ms,
  );
  if (!found) throw new Error(`there is no session ${id}`);
  return found;
}

export const isAsleep = ({header}: Session): boolean => header?.status === 'sleeping';

/** The results of calls, by id. */
export function resultsIn({messages}: Session): Map<string, Record<string, unknown>> {
  const results = messages.filter(({role}) => role === 'tool_result');
  return new Map(
    results.map(({tool_call_id = '', content}: Message) => [
      tool_call_id,
      JSON.parse(content ?? '') as Record<string, unknown>,
    ]),
  );
}
