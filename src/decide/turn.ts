import {isChildId} from '../formats/session/child-session.ts';
import type {Session} from '../formats/session/session.ts';
import {insertMessages, setKeysInCalls, setSessionFields} from '../formats/session/session-edit.ts';
import type {Call, Message, SessionHeader, SessionStatus} from '../formats/session/session-schema.ts';
import {laterTime} from './session.ts';

/** The next action of a session. */
export type NextAction =
  /** Ask the model: there are unanswered messages. */
  | {do: 'ask'}
  /** Run the calls of the last answer that have no result, in order. */
  | {do: 'call'; open: OpenCalls}
  | {do: 'rest'};

export interface OpenCalls {
  /** Index of the answer in the messages. */
  index: number;
  calls: readonly Call[];
}

/** The next action of a session, if `mayWork` allows it. Only a new message wakes a sleeping session. */
export function nextSessionAction(session: Session): NextAction {
  const {header, messages} = session;
  if (header?.status !== 'sleeping') return nextAction(messages);
  const last = Math.max(
    cancelledAt(session),
    messages.findLastIndex(({role}) => role === 'assistant'),
  );
  return messages.slice(last + 1).some(({role}) => role === 'user') ? nextAction(messages) : {do: 'rest'};
}

/** Whether a person cancelled the turn, and nothing new has been said since. */
export function isCancelled(session: Session): boolean {
  const {header, messages} = session;
  if (header?.status !== 'sleeping' || header.cancelled === undefined) return false;
  return !messages.slice(cancelledAt(session) + 1).some(({role}) => role === 'user');
}

/** Index of the last message that a cancelled turn was to answer; -1 if none. */
function cancelledAt({header, messages}: Session): number {
  const {cancelled} = header ?? {};
  return cancelled === undefined ? -1 : messages.findLastIndex(({timestamp}) => timestamp === cancelled);
}

/** The next action, from the messages alone. */
export function nextAction(messages: readonly Message[]): NextAction {
  const last = messages.findLastIndex(({role}) => role === 'assistant');
  const open = last === -1 ? [] : unanswered(messages, last);
  if (open.length > 0) return {do: 'call', open: {index: last, calls: open}};
  const waits = messages.slice(last + 1).some(({role}) => role === 'user' || role === 'tool_result');
  return waits ? {do: 'ask'} : {do: 'rest'};
}

function unanswered(messages: readonly Message[], index: number): readonly Call[] {
  const calls = messages[index]?.tool_calls ?? [];
  if (calls.length === 0) return calls;
  const answered = new Set<string | undefined>();
  for (let i = index + 1; i < messages.length; i++) answered.add(messages[i]?.tool_call_id);
  return calls.filter(({id}) => !answered.has(id));
}

/**
 * Whether the status lets a session work. A person can stop it by the status. A session that waits for a higher limit
 * does nothing; one that waits for the decision about a call, or for a task of another session, may run its other calls.
 */
export function mayWork({status, waiting_for}: Partial<SessionHeader> = {}): boolean {
  if (status === 'waiting') return waiting_for === undefined || isChildId(waiting_for);
  return status === undefined || status === 'active' || status === 'sleeping';
}

/** The status that matches the next action. */
export function statusFor(next: NextAction): SessionStatus {
  if (next.do === 'rest') return 'sleeping';
  const first = next.do === 'call' ? next.open.calls[0] : undefined;
  const waits = first?.child !== undefined || (first?.approval !== undefined && first.started === undefined);
  return waits ? 'waiting' : 'active';
}

/** The status that matches the next action, and the session that a waiting session waits for. */
export function restKeys(
  next: NextAction,
  {waiting_for}: Partial<SessionHeader> = {},
): {status: SessionStatus; waiting_for?: string | undefined} {
  const first = next.do === 'call' ? next.open.calls[0] : undefined;
  if (first?.child !== undefined) return {status: 'waiting', waiting_for: first.child};
  return {status: statusFor(next), ...(isChildId(waiting_for) && {waiting_for: undefined})};
}

/** Whether both messages look the same to the model. */
function sameForModel(a: Message, b: Message): boolean {
  return (
    a === b ||
    (a.role === b.role &&
      (a.content ?? '') === (b.content ?? '') &&
      (a.from ?? 'human') === (b.from ?? 'human') &&
      a.untrusted === b.untrusted &&
      a.tool_call_id === b.tool_call_id &&
      sameCalls(a.tool_calls ?? [], b.tool_calls ?? []))
  );
}

function sameCalls(a: readonly Call[], b: readonly Call[]): boolean {
  return (
    a.length === b.length &&
    a.every(({id, function: {name, arguments: args}}, i) => {
      const other = b[i];
      return id === other?.id && name === other.function.name && args === other.function.arguments;
    })
  );
}

/** Whether the messages still begin with `basis`, the messages that the model was sent. */
export function beginsWith(messages: readonly Message[], basis: readonly Message[]): boolean {
  return (
    basis.length <= messages.length &&
    basis.every((message, i) => {
      const other = messages[i];
      return other !== undefined && sameForModel(message, other);
    })
  );
}

/** Insert results after their answer and its other results, before messages that arrived meanwhile. */
export function withResults(session: Session, {index}: OpenCalls, results: readonly Message[]): Session {
  let after = index + 1;
  while (session.messages[after]?.role === 'tool_result') after++;
  return results.length === 0 ? session : insertMessages(session, after, results);
}

/** Keys that the daemon sets in a call: `approval` if it waits for a person, the others before it runs. */
export type CallKeys = Partial<Pick<Call, 'approval' | 'started' | 'run' | 'where' | 'child'>>;

/** Set keys of calls in the answer at `index`, by call id. */
export function withCallKeys(session: Session, index: number, keys: ReadonlyMap<string, CallKeys>): Session {
  const changes = (session.messages[index]?.tool_calls ?? []).flatMap(({id}, at) => {
    const set = keys.get(id);
    return set ? [{item: at, keys: set}] : [];
  });
  return changes.length === 0 ? session : setKeysInCalls(session, index, changes);
}

/** Set header fields; undefined removes one. Each version gets a new `updated`. */
export function withHeader(session: Session, keys: Partial<SessionHeader>, now: string): Session {
  const changed = Object.entries(keys).filter(([key, value]) => session.header?.[key] !== value);
  return setSessionFields(session, {updated: laterTime(now, session.header?.updated), ...Object.fromEntries(changed)});
}

/** How often a truncated answer is continued automatically. */
const MOST_CUTS = 3;
export const CONTINUE_PROMPT = 'Your answer was cut off at the length limit. Go on exactly where it ended.';

/** Whether a truncated answer may be continued once more. */
export function mayContinue(messages: readonly Message[]): boolean {
  let cuts = 0;
  for (const message of messages.toReversed()) {
    if (message.role === 'user' && !(message.from === 'system' && message.content === CONTINUE_PROMPT)) break;
    if (message.role === 'user') cuts++;
  }
  return cuts < MOST_CUTS;
}
