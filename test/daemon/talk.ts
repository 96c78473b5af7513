import {appendFileSync} from 'node:fs';
import {join} from 'node:path';
import {parseSession, type Session} from '../../src/formats/session/session.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {put, until} from '../cli/run.ts';
import {type ChatRequest, type FakeOpenAI, type Reaction, startFakeOpenAI} from '../model/fake-openai.mjs';
import {read} from './serve.ts';

/** What the model does in one conversation: `nth` counts the requests of that conversation, from 0. */
type Part = (request: ChatRequest, nth: number) => Reaction | Promise<Reaction>;

/** A server that plays many parts at once. A conversation's topic is the first word of its first user message. */
export interface Stage {
  server: FakeOpenAI;
  parts: Map<string, Part>;
  /** What was asked on a topic so far, in order. */
  asked: (topic: string) => ChatRequest[];
  /** Where a daemon finds it. */
  env: NodeJS.ProcessEnv;
}

const topicOf = ({messages}: ChatRequest) => messages.find(({role}) => role === 'user')?.content?.split(/\W/)[0] ?? '';

export async function setStage(): Promise<Stage> {
  const asked = new Map<string, ChatRequest[]>();
  const parts = new Map<string, Part>();
  const server = await startFakeOpenAI({
    keep: false,
    answer: async request => {
      const topic = topicOf(request);
      const all = asked.get(topic) ?? [];
      asked.set(topic, [...all, request]);
      return (await parts.get(topic)?.(request, all.length)) ?? {text: `answer ${all.length}`};
    },
  });
  return {
    server,
    parts,
    asked: topic => asked.get(topic) ?? [],
    env: {OPENAI_BASE_URL: server.url, OPENAI_MODEL: 'fake-1'},
  };
}

/** Something that happens when a test wants it. */
export function gate<T = void>(): {open: (value: T) => void; opened: Promise<T>} {
  let open = (_value: T) => {};
  const opened = new Promise<T>(resolve => {
    open = resolve;
  });
  return {open, opened};
}

/** An agent that may read, and make new files. */
export const TALKER = `id: talker
type: talker
system_prompt: You are brief.
capabilities: [list_agents, read_file, create_file, write_file, edit_file]
`;
export const POLICY = 'version: 1\ntools: {create_file: allow, write_file: ask, edit_file: deny}\n';

export const pathOf = (id: string): string => `sessions/${id}.session.yaml`;
export const lineOf = (text: string): string => `  - role: user\n    content: ${JSON.stringify(text)}\n`;
export const leastForm = (text: string, agent = 'talker'): string => `agent_id: ${agent}\nmessages:\n${lineOf(text)}`;

/** A new session in its least form. */
export function begin(home: string, id: string, text: string): void {
  put(home, {[pathOf(id)]: leastForm(text)});
}

/** As `cat >>` does it. */
export function append(home: string, id: string, text: string): void {
  appendFileSync(join(home, pathOf(id)), lineOf(text));
}

export const sessionOf = (home: string, id: string): Session => parseSession(read(home, pathOf(id)));

/** A line a message: who, what; of a result its code. */
export const transcript = ({messages}: Session): string[] => messages.map(line);

function line({role, content, tool_calls, tool_call_id}: Message): string {
  if (role !== 'tool_result') {
    const calls = tool_calls?.map(call => call.function.name).join(', ');
    return `${role}: ${[content, calls && `[${calls}]`].filter(Boolean).join(' ')}`;
  }
  const {success, code} = JSON.parse(content ?? '') as {success: boolean; code?: string};
  return `result ${tool_call_id}: ${success ? 'ok' : code}`;
}

/** The session once it reads as `holds` says: its transcript and status. */
export async function whenIt(
  home: string,
  id: string,
  holds: (lines: readonly string[], session: Session) => boolean,
  ms?: number,
): Promise<Session> {
  await until(
    () => {
      const session = sessionOf(home, id);
      return {lines: transcript(session), session};
    },
    ({lines, session}) => holds(lines, session),
    ms,
  );
  return sessionOf(home, id);
}

/** Nothing left to do for it. */
export const atRest = (_: readonly string[], {header}: Session): boolean => header?.status === 'sleeping';
