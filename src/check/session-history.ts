import {type Problem, problem} from '../formats/common/diagnostic.ts';
import {isSegment, stemOf} from '../formats/common/key.ts';
import type {Session} from '../formats/session/session.ts';
import type {Message} from '../formats/session/session-schema.ts';
import {SettledPrefix} from '../formats/session/settled-prefix.ts';
import {placesIn, type SessionPath} from './session-places.ts';

/** Nobody reads more of one file. */
const MAX_PROBLEMS = 100;

/** A session_id that is not the file's name, and a history that a model would refuse. */
export function historyProblems(path: string, session: Session): Problem[] {
  const {header, messages} = session;
  if (!header || isSegment(path)) return [];
  const problems: Problem[] = [];
  let placeOf: ReturnType<typeof placesIn> | undefined;
  const say = (code: Problem['code'], at: SessionPath, message: string, hint: string) => {
    placeOf ??= placesIn(session);
    if (problems.length < MAX_PROBLEMS) problems.push(problem(code, placeOf(at), message, hint));
  };
  const stem = stemOf(path);
  const id = header.session_id ?? stem;
  if (id !== stem)
    say(
      'NAME_MISMATCH',
      ['session_id'],
      `expected the session_id "${stem}" as in the file name, got "${id}"`,
      `write "session_id: ${stem}", or rename the file to ${id}.session.yaml`,
    );
  checkHistory(messages, (header.segments?.length ?? 0) > 0, say);
  return problems;
}

type Say = (code: Problem['code'], at: SessionPath, message: string, hint: string) => void;

/** Calls by their id: whether they have a result. */
type Calls = Map<string, boolean>;

/** Calls of the messages of a long conversation that do not change any more, and whether anything is wrong with them. */
const settled = new SettledPrefix<{calls: Calls; wrong: boolean}>(
  () => ({calls: new Map(), wrong: false}),
  (state, message, index) => {
    checkMessage(message, index, [state.calls], false, () => {
      state.wrong = true;
    });
  },
);

/** Each tool result answers one call of an earlier message. A call without a result is fine: it may be under way. */
function checkHistory(messages: Session['messages'], segmented: boolean, say: Say): void {
  const {state, count} = settled.of(messages);
  const calls: Calls = new Map();
  for (let i = state.wrong ? 0 : count; i < messages.length; i++)
    checkMessage(messages[i] as Message, i, state.wrong ? [calls] : [calls, state.calls], segmented, say);
}

/** `calls` of the messages before it; its own are added to the first of these maps. */
function checkMessage(
  message: Message,
  index: number,
  [calls, earlier]: [Calls, Calls?],
  segmented: boolean,
  say: Say,
): void {
  const stateOf = (id: string) => calls.get(id) ?? earlier?.get(id);
  for (const [i, call] of message.tool_calls?.entries() ?? []) {
    if (stateOf(call.id) === undefined) calls.set(call.id, false);
    else
      say(
        'DUPLICATE_CALL',
        ['messages', index, 'tool_calls', i, 'id'],
        `expected each call id once, found "${call.id}" again`,
        'remove the copy, or give it another id',
      );
    if (!isJson(call.function.arguments))
      say(
        'BAD_ARGUMENTS',
        ['messages', index, 'tool_calls', i, 'function', 'arguments'],
        'expected JSON, found something else; the model is told so',
        'mend the JSON, or leave it',
      );
  }
  if (message.role !== 'tool_result' || message.tool_call_id === undefined) return;
  const id = message.tool_call_id;
  const at = ['messages', index, 'tool_call_id'];
  const isAnswered = stateOf(id);
  if (isAnswered)
    say('DUPLICATE_RESULT', at, `expected one result for the call "${id}", found a second`, 'remove one of the two');
  else if (isAnswered === undefined && !segmented)
    say(
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
