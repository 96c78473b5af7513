import {stemOf} from '../formats/common/key.ts';
import {isWork} from '../formats/session/chain.ts';
import {parseSession, type Session} from '../formats/session/session.ts';
import type {Message, SessionHeader} from '../formats/session/session-schema.ts';
import type {FileRow} from './file-rows.ts';
import type {Row} from './tables.ts';

/** A session file, or a file with older messages of a session, and how many messages of that session are in files before. */
export interface SessionPart {
  path: string;
  text: string;
  isSegment: boolean;
  before: number;
}

/** Rows for the messages of a session, and for what it was asked and given to do. Must not throw. */
export function talkRows({path, text, isSegment, before}: SessionPart): FileRow[] {
  const session = parseSession(text);
  const {header, messages} = session;
  if (!header) return [];
  const stem = stemOf(path);
  const id = isSegment ? stem.replace(/\.\d+$/, '') : stem;
  const taint = header.tainted?.length ? {taint: header.tainted} : {};
  const rows = messages.map((message, i) => ({
    table: 'messages' as const,
    line: i + 1,
    row: messageRow(id, before + i + 1, message, callsNamed(messages, i)),
    ...taint,
  }));
  if (isSegment) return rows;
  const work = header.kind === 'task' ? [taskExecution(id, session)] : asksIn(id, header, messages);
  return [...rows, ...work.map(({line, row}) => ({table: 'executions' as const, line, row, ...taint}))];
}

type Calls = NonNullable<Message['tool_calls']>;

function messageRow(session: string, n: number, message: Message, called: Calls): Row {
  const {role, from, timestamp, content, usage} = message;
  return {
    ...{session, n, role, at: timestamp ?? null, text: content ?? null},
    from: role === 'user' ? (from ?? 'human') : null,
    tool: called.length > 0 ? called.map(call => call.function.name).join(' ') : null,
    tokens: usage ? tokensOf(usage) : null,
  };
}

/** The calls of a message, or the call that it is the result of. */
function callsNamed(messages: readonly Message[], at: number): Calls {
  const {tool_calls = [], tool_call_id: id} = messages[at] as Message;
  if (id === undefined) return tool_calls;
  for (let i = at - 1; i >= 0; i--) {
    const found = messages[i]?.tool_calls?.filter(call => call.id === id) ?? [];
    if (found.length > 0) return found;
  }
  return [];
}

interface Execution {
  line: number;
  row: Row;
}

function taskExecution(session: string, {header, messages}: Session): Execution {
  const {result, parent, agent_id: agent, created, status} = header as SessionHeader;
  const [first] = messages;
  const last = messages.at(-1);
  return {
    line: 1,
    row: {
      ...{session, agent, kind: 'task', ...usageOf(messages)},
      parent: parent?.session ?? null,
      call: parent?.call ?? null,
      request: first?.content ?? null,
      status: result?.status ?? openStatus(status),
      started: first?.timestamp ?? created ?? null,
      completed: result ? (last?.timestamp ?? null) : null,
      summary: result?.summary ?? null,
      artifacts: result ? result.artifacts.join('\n') : null,
    },
  };
}

/** The asks of a session, each with the work on it: from a message that is no reply to the final answer. */
function asksIn(session: string, {agent_id: agent, status}: SessionHeader, messages: readonly Message[]): Execution[] {
  const found: Execution[] = [];
  for (let at = 0; at < messages.length; ) {
    let end = at;
    while (end < messages.length && !isFinal(messages[end] as Message)) end++;
    const part = messages.slice(at, end + 1);
    const answer = messages[end];
    const asked = part.findIndex(message => isWork(message) && message.in_reply_to === undefined);
    const request = part[asked];
    if (request && !request.from?.startsWith('task/'))
      found.push({
        line: at + asked + 1,
        row: {
          ...{session, agent, kind: 'ask', ...usageOf(part)},
          parent: request.reply_to ?? null,
          call: null,
          request: request.content ?? null,
          status: answer ? 'completed' : openStatus(status),
          started: request.timestamp ?? null,
          completed: answer?.timestamp ?? null,
          summary: answer?.content ?? null,
          artifacts: null,
        },
      });
    at = end + 1;
  }
  return found;
}

function isFinal({role, tool_calls}: Message): boolean {
  return role === 'assistant' && !tool_calls?.length;
}

function openStatus(status: SessionHeader['status']): string {
  return status === 'error' ? 'failed' : status === 'waiting' ? 'waiting' : 'running';
}

function usageOf(messages: readonly Message[]): Row {
  const turns = messages.filter(({role}) => role === 'assistant');
  const isPriced = turns.every(({usage}) => !usage || usage.cost_usd !== undefined || tokensOf(usage) === 0);
  const cost = turns.reduce((sum, {usage}) => sum + (usage?.cost_usd ?? 0), 0);
  return {
    turns: turns.length,
    tool_calls: turns.reduce((sum, {tool_calls = []}) => sum + tool_calls.length, 0),
    tokens_used: turns.reduce((sum, {usage = {}}) => sum + tokensOf(usage), 0),
    cost_usd: isPriced ? Math.round(cost * 1e9) / 1e9 : null,
  };
}

function tokensOf({input_tokens = 0, output_tokens = 0}: NonNullable<Message['usage']>): number {
  return input_tokens + output_tokens;
}
