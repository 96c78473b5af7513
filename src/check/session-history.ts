import {type Problem, problem} from '../formats/common/diagnostic.ts';
import {isSegment, stemOf} from '../formats/common/key.ts';
import {notYet} from '../formats/common/no-effect.ts';
import type {Session} from '../formats/session/session.ts';
import {callSchema, headerSchema, type Message, messageSchema} from '../formats/session/session-schema.ts';
import {SettledPrefix} from '../formats/session/settled-prefix.ts';
import {keyProblems, type PlaceFinder} from '../formats/yaml/validate.ts';
import {placesIn, type SessionPath} from './session-places.ts';

const MAX_PROBLEMS = 100;

/** Report a session_id that differs from the file name, and a history that a model would reject. */
export function historyProblems(path: string, session: Session): Problem[] {
  const {header, messages} = session;
  if (!header || isSegment(path)) return [];
  const problems: Problem[] = [];
  let placeOf: ReturnType<typeof placesIn> | undefined;
  const report = (code: Problem['code'], at: SessionPath, message: string, hint: string) => {
    placeOf ??= placesIn(session);
    if (problems.length < MAX_PROBLEMS) problems.push(problem(code, placeOf(at), message, hint));
  };
  const stem = stemOf(path);
  const id = header.session_id ?? stem;
  if (id !== stem)
    report(
      'NAME_MISMATCH',
      ['session_id'],
      `expected the session_id "${stem}" as in the file name, got "${id}"`,
      `write "session_id: ${stem}", or rename the file to ${id}.session.yaml`,
    );
  checkHistory(messages, (header.segments?.length ?? 0) > 0, report);
  const told = new Set<string>();
  const at: PlaceFinder = (place, what) => {
    placeOf ??= placesIn(session);
    return placeOf(place, what);
  };
  problems.push(...keyProblems(headerSchema, header, notYet.session, at, [], told));
  for (const i of messagesWithOtherKeys(messages))
    problems.push(...keyProblems(messageSchema, messages[i], notYet.session, at, ['messages', i], told));
  return problems.slice(0, MAX_PROBLEMS);
}

const messageKeys: ReadonlySet<string> = new Set(Object.keys(messageSchema.shape));

/** Indexes of messages with unknown keys, or with calls that have some. */
const otherKeys = new SettledPrefix<number[]>(
  () => [],
  (found, message, index) => {
    if (hasOtherKeys(message)) found.push(index);
  },
);

function messagesWithOtherKeys(messages: Session['messages']): number[] {
  const {state, count} = otherKeys.of(messages);
  const found = [...state];
  for (let i = count; i < messages.length; i++) if (hasOtherKeys(messages[i] as Message)) found.push(i);
  return found;
}

function hasOtherKeys(message: Message): boolean {
  for (const key in message) if (!messageKeys.has(key)) return true;
  return message.tool_calls?.some(call => Object.keys(call).some(key => !callKeys.has(key))) ?? false;
}

const callKeys: ReadonlySet<string> = new Set(Object.keys(callSchema.shape));

type Report = (code: Problem['code'], at: SessionPath, message: string, hint: string) => void;

/** Whether a call has a result, by call id. */
type Calls = Map<string, boolean>;

/** Caches the calls in the settled messages of a long conversation, and whether they have problems. */
const settled = new SettledPrefix<{calls: Calls; wrong: boolean}>(
  () => ({calls: new Map(), wrong: false}),
  (state, message, index) => {
    checkMessage(message, index, [state.calls], false, () => {
      state.wrong = true;
    });
  },
);

/** Each tool result must answer one earlier call. A call without a result is fine: it may be running. */
function checkHistory(messages: Session['messages'], segmented: boolean, report: Report): void {
  const {state, count} = settled.of(messages);
  const calls: Calls = new Map();
  for (let i = state.wrong ? 0 : count; i < messages.length; i++)
    checkMessage(messages[i] as Message, i, state.wrong ? [calls] : [calls, state.calls], segmented, report);
}

/** `calls` and `earlier` hold the calls of previous messages; the message's own calls are added to `calls`. */
function checkMessage(
  message: Message,
  index: number,
  [calls, earlier]: [Calls, Calls?],
  segmented: boolean,
  report: Report,
): void {
  const stateOf = (id: string) => calls.get(id) ?? earlier?.get(id);
  for (const [i, call] of message.tool_calls?.entries() ?? []) {
    if (stateOf(call.id) === undefined) calls.set(call.id, false);
    else
      report(
        'DUPLICATE_CALL',
        ['messages', index, 'tool_calls', i, 'id'],
        `expected each call id once, found "${call.id}" again`,
        'remove the copy, or give it another id',
      );
    if (!isJson(call.function.arguments))
      report(
        'BAD_ARGUMENTS',
        ['messages', index, 'tool_calls', i, 'function', 'arguments'],
        'expected JSON, found something else; the model sees that',
        'fix the JSON, or leave it',
      );
  }
  if (message.role !== 'tool_result' || message.tool_call_id === undefined) return;
  const id = message.tool_call_id;
  const at = ['messages', index, 'tool_call_id'];
  const isAnswered = stateOf(id);
  if (isAnswered)
    report(
      'DUPLICATE_RESULT',
      at,
      `expected one result for the call "${id}", found a second; the model is sent it as a later message`,
      'leave it, or remove one of the two',
    );
  else if (isAnswered === undefined && !segmented)
    report(
      'STRAY_RESULT',
      at,
      `expected a call "${id}" in an earlier assistant message, found none`,
      'remove this message, or restore the call: git log -p',
    );
  calls.set(id, true);
}

function isJson(text: string): boolean {
  if (text === '') return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
