import {newSession} from '../session/session.ts';
import type {Call, Message, SessionHeader} from '../session/session-schema.ts';
import {awaitsAnswer} from '../session/spent.ts';

/** Keys that concern only the original session: what it waits for, owes others, and receives, and its checkpoints. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  'session_id',
  'created',
  'updated',
  'status',
  'error',
  'waiting_for',
  'shared',
  'task',
  'kind',
  'parent',
  'result',
  'result_due',
  'thread',
  'ephemeral',
  'mentions_due',
  'tasks_due',
  'segments',
  'context',
  'forked_from',
]);

export interface ForkRequest {
  header: SessionHeader;
  /** Its messages up to the cut, without those in `segments`. */
  messages: readonly Message[];
  /** Files with older messages, shared by both sessions. */
  segments: readonly string[];
  id: string;
  from: NonNullable<SessionHeader['forked_from']>;
  paused: boolean;
  /** ISO time. */
  now: string;
  /** Path from the new file to schemas/session.json. */
  schema: string;
}

export interface ForkResult {
  text: string;
  awaits: boolean;
  /** Calls without a result, which now have one that says they were not run. */
  open: readonly Call[];
}

/**
 * Create a session from the state of another. Its history is complete: each call has its result. Nothing in it is
 * waiting, started or delivered: decisions, running calls and deliveries stay with the original session.
 */
export function forkSession({header, messages, segments, id, from, paused, now, schema}: ForkRequest): ForkResult {
  const {whole, open} = withResults(messages, now);
  const awaits = awaitsAnswer(whole);
  const {agent_id, agent_type, model, system_prompt, tainted, metadata, ...others} = header;
  const kept = Object.entries(others).filter(([key]) => !OWN_KEYS.has(key));
  const text = newSession(
    {
      ...{session_id: id, agent_id},
      ...(agent_type !== undefined && {agent_type}),
      ...(model !== undefined && {model}),
      ...(system_prompt !== undefined && {system_prompt}),
      ...{created: now, updated: now, status: paused ? 'paused' : awaits ? 'active' : 'sleeping'},
      forked_from: from,
      ...(tainted && {tainted}),
      ...(segments.length > 0 && {segments: [...segments]}),
      ...(metadata !== undefined && {metadata}),
      ...Object.fromEntries(kept),
    },
    whole.map(plainMessage),
    schema,
  );
  return {text, awaits, open};
}

/** Ensure one result below each call, in order, and no result without its call. */
function withResults(messages: readonly Message[], now: string): {whole: Message[]; open: Call[]} {
  const answered = new Set(messages.map(({tool_call_id}) => tool_call_id));
  const called = new Set<string>();
  const whole: Message[] = [];
  const open: Call[] = [];
  /** Calls of the last answer without a result. */
  let missing: Call[] = [];
  const fill = () => {
    for (const call of missing) whole.push(notRun(call, now));
    open.push(...missing);
    missing = [];
  };
  for (const message of messages) {
    if (message.role !== 'tool_result') fill();
    else if (message.tool_call_id === undefined || !called.delete(message.tool_call_id)) continue;
    whole.push(message);
    for (const call of message.tool_calls ?? []) {
      if (answered.has(call.id)) called.add(call.id);
      else missing.push(call);
    }
  }
  fill();
  return {whole, open};
}

function notRun({id, started}: Call, now: string): Message {
  const result =
    started === undefined
      ? {error: 'not run: this session was forked before the call was decided or run', code: 'REJECTED'}
      : {
          error: `interrupted, outcome unknown: it was started (${started}) in the session that this one was forked from`,
          code: 'INTERRUPTED',
        };
  return {timestamp: now, role: 'tool_result', tool_call_id: id, content: JSON.stringify({success: false, ...result})};
}

function plainMessage({delivery: _, reply_to: __, tool_calls, ...message}: Message): Message {
  if (!tool_calls) return message;
  return {...message, tool_calls: tool_calls.map(plainCall)};
}

function plainCall({approval: _, started: __, run: ___, where: ____, child: _____, ...call}: Call): Call {
  return call as Call;
}
