import {hasErrors} from '../common/diagnostic.ts';
import {isMap} from '../common/values.ts';
import {type MessagePart, matchMessages} from '../merge/message-match.ts';
import {parseSession, type Session, sessionText} from '../session/session.ts';
import {insertMessage, setInMessage, setKeysInMessage, setSessionFields} from '../session/session-edit.ts';
import type {Call, Message, SessionHeader} from '../session/session-schema.ts';

export interface SessionUndo {
  /** The session after the change, without it, except for the status. */
  text: string;
  /** Like `text`, with the previous status if that is restored too. */
  whole: string;
  removed: readonly Message[];
  /** Calls whose results are blanked out. */
  blanked: readonly Call[];
  /** Parts of the change that are never undone, in words. */
  stays: readonly string[];
  /** The session after the change, with later marks that do not prevent removing a message. */
  after: string;
}

/** Keys that are never restored: that would repeat work, lose the origin of text, or separate related messages. */
const OWN_KEYS = [
  'session_id',
  'created',
  'updated',
  'tainted',
  'segments',
  'waiting_for',
  'mentions_due',
  'tasks_due',
  'kind',
  'parent',
  'result',
  'result_due',
  'forked_from',
] as const;

const CALL_KEYS = ['approval', 'started', 'run', 'where', 'child'] as const;

/** States that a person sets, or that stop a session; other states follow from the messages. */
const LASTING: ReadonlySet<unknown> = new Set(['paused', 'completed', 'error']);

/** Replaces an undone result: a call without a result would run again. */
export const BLANK = JSON.stringify({
  success: false,
  error: 'a person removed this result from the history; the call ran, so do not repeat it',
  code: 'UNDONE',
});

/** Undefined if a text cannot be parsed: then only lines can be undone. Throws if an edit is refused. */
export function undoInSession(before: string, after: string, now: string): SessionUndo | {refused: string} | undefined {
  const [was, left] = [parseSession(before), parseSession(after)];
  if (hasErrors(was.problems) || hasErrors(left.problems) || !was.header || !left.header) return undefined;
  const later = parseSession(now);
  const is = withRequests(left, later);
  if (!is.header) return undefined;
  if (JSON.stringify(was.header.segments) !== JSON.stringify(is.header.segments))
    return {refused: HEADER_WORDS.segments};
  const stays = new Set<string>();
  let session = keepHeader(was, was.header, is.header, stays);
  const [from, to] = [partsOf(is), partsOf(was)];
  const match = matchMessages(from, to);
  const removed: Message[] = [];
  const blanked: Call[] = [];
  /** Where the next message goes that must stay. */
  let at = 0;
  let inserted = 0;
  for (const [i, message] of is.messages.entries()) {
    const found = match.to[i] as number;
    if (found !== -1) {
      at = found + inserted + 1;
      session = keepInMessage(session, at - 1, message, stays);
      continue;
    }
    const begun = message.tool_calls?.find(({started}) => started !== undefined);
    if (begun) return {refused: `its call ${begun.id} was started (${begun.started}), and stays`};
    // With its answer, the result of a call that had no effects goes, too.
    const isOfRemoved = removed.some(({tool_calls}) => tool_calls?.some(({id}) => id === message.tool_call_id));
    if (message.role !== 'tool_result' || isOfRemoved) {
      removed.push(message);
      continue;
    }
    if (message.content !== BLANK) blanked.push(...callsOf(is).filter(({id}) => id === message.tool_call_id));
    session = insertBlank(session, at++, is, i);
    inserted++;
  }
  const text = sessionText(session);
  // Unless the status was set, or followed from messages, since then.
  const goes = later.header?.status === is.header.status && session.header?.status !== was.header.status;
  const whole = goes ? sessionText(setSessionFields(session, {status: was.header.status})) : text;
  return {text, whole, removed, blanked, stays: [...stays], after: sessionText(is)};
}

/** Insert the result at `from` of another session without its content, keeping its lines if possible. */
function insertBlank(session: Session, index: number, of: Session, from: number): Session {
  const {items} = session;
  const blank = of.messages[from]?.content === BLANK ? of : setInMessage(of, from, ['content'], BLANK);
  const item = blank.items?.[from];
  if (!items?.length || !item?.text.endsWith('\n') || !items.every(({text}) => text.endsWith('\n')))
    return insertMessage(session, index, {...(of.messages[from] as Message), content: BLANK});
  const all = [...items.slice(0, index), item, ...items.slice(index)];
  return {...session, items: all, body: all.map(({text}) => text).join(''), messages: all.map(({value}) => value)};
}

/** Copy later approval requests of unstarted calls, so that a pending request does not count as a change. */
function withRequests(session: Session, now: Session): Session {
  const later = new Map(callsOf(now).map(call => [call.id, call]));
  let result = session;
  for (const [index, {tool_calls = []}] of session.messages.entries())
    for (const [i, {id, approval}] of tool_calls.entries()) {
      const asked = later.get(id);
      if (approval !== undefined || asked?.approval === undefined || asked.started !== undefined) continue;
      result = setKeysInMessage(result, index, ['tool_calls', i], {approval: asked.approval});
    }
  return result;
}

/** Header of `before`, with everything that is never undone as after the change. */
function keepHeader(session: Session, was: SessionHeader, is: SessionHeader, stays: Set<string>): Session {
  const kept: Record<string, unknown> = {};
  const keep = (key: string, words: string) => {
    if (JSON.stringify(was[key]) === JSON.stringify(is[key])) return;
    kept[key] = is[key];
    // Nobody would expect these to be restored.
    if (words !== '') stays.add(words);
  };
  for (const key of OWN_KEYS) keep(key, HEADER_WORDS[key]);
  // A status that follows from the messages is no reason to undo a change by itself.
  if (!LASTING.has(was.status) && !LASTING.has(is.status)) keep('status', '');
  return setSessionFields(session, kept);
}

const HEADER_WORDS: Record<(typeof OWN_KEYS)[number], string> = {
  session_id: 'the daemon would fill in the same fields again',
  created: 'the daemon would fill in the same fields again',
  updated: '',
  tainted: 'the session stays marked as having read text from outside',
  segments: 'messages that moved to the archive stay there: the session is the same with and without it',
  waiting_for: 'it waits because of a limit: decide the request instead',
  mentions_due: 'the agents that it names are notified',
  tasks_due: 'its tasks record its answer in their files',
  kind: 'it stays a session of one task',
  parent: 'the session that gave it its task stays recorded',
  result: 'its result was reported to the session that gave it its task',
  result_due: 'its result is reported to the session that gave it its task',
  forked_from: 'its origin stays recorded',
};

function keepInMessage(session: Session, index: number, is: Message, stays: Set<string>): Session {
  let result = session;
  const own = session.messages[index] as Message;
  const filled = (['timestamp', 'from'] as const).filter(key => own[key] === undefined && is[key] !== undefined);
  if (filled.length > 0) {
    stays.add('the daemon would fill in the same fields again');
    result = setKeysInMessage(result, index, [], Object.fromEntries(filled.map(key => [key, is[key]])));
  }
  for (const call of is.tool_calls ?? []) {
    const at = own.tool_calls?.findIndex(({id}) => id === call.id) ?? -1;
    const before = own.tool_calls?.[at];
    const keys = CALL_KEYS.filter(key => before && call[key] !== undefined && before[key] !== call[key]);
    if (keys.length === 0) continue;
    const started = keys.includes('started');
    stays.add(
      started
        ? `the call ${call.id} stays marked as started: without the mark it might run twice`
        : `the call ${call.id} would ask again at once: to answer it, agentdir reject ${call.approval}`,
    );
    result = setKeysInMessage(result, index, ['tool_calls', at], Object.fromEntries(keys.map(key => [key, call[key]])));
  }
  return result;
}

/** Why `result` must not replace `now`: something that happened would be lost. Undefined: it may. */
export function whatSessionLoses(now: string, result: string): string | undefined {
  const [is, would] = [parseSession(now), parseSession(result)];
  if (!would.header) return 'the session would have errors';
  if (!is.header) return undefined;
  const calls = new Map(callsOf(would).map(call => [call.id, call]));
  const answered = new Set(would.messages.map(({tool_call_id}) => tool_call_id));
  const wasAnswered = new Set(is.messages.map(({tool_call_id}) => tool_call_id));
  for (const call of callsOf(is)) {
    const left = calls.get(call.id);
    if (call.started !== undefined && left?.started !== call.started)
      return `the call ${call.id} was started (${call.started}), and would not be marked any more`;
    if (left && wasAnswered.has(call.id) && !answered.has(call.id)) return `the call ${call.id} would have no result`;
  }
  for (const id of answered)
    if (id !== undefined && !calls.has(id) && wasAnswered.has(id) && callsOf(is).some(call => call.id === id))
      return `the result of ${id} would be without its call`;
  const tainted = new Set(would.header.tainted ?? []);
  if (is.header.tainted?.some(source => !tainted.has(source)))
    return 'that text from outside was read would be forgotten';
  if (JSON.stringify(is.header.segments) !== JSON.stringify(would.header.segments))
    return 'older messages would be lost';
  return undefined;
}

/** Describe a status that both the change and somebody later set. */
export function statusOverlap(before: string, after: string, now: string): string | undefined {
  const [was, made, is] = [before, after, now].map(text => parseSession(text).header?.status);
  if (was === made || is === made || is === was || !(LASTING.has(was) || LASTING.has(made))) return undefined;
  return `the status is ${is} by now`;
}

function callsOf({messages}: Session): Call[] {
  return messages.flatMap(({tool_calls = []}) => tool_calls);
}

function partsOf({items, messages}: Session): MessagePart[] {
  return messages.map((message, i) => ({
    text: items?.[i]?.text ?? JSON.stringify(message),
    value: () => (isMap(message) ? message : {}),
  }));
}
