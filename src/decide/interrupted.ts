import type {Call, Message} from '../formats/session/session-schema.ts';
import {SettledPrefix} from '../formats/session/settled-prefix.ts';
import {toolNamed} from '../policy/tools.ts';

/** An interrupted call that a new call repeats. */
export interface InterruptedCall {
  first: Call;
  /** `call`: the new call does the same. `message`: it sends another text to the same receiver. */
  as: 'call' | 'message';
}

/** Results of calls that did not run: they say nothing about the interrupted call. */
const notMade = /"code":"(?:REJECTED|DENIED|NOT_ALLOWED|INVALID_ARGUMENTS|EXPIRED)"/;
/** Results of messages that were not sent. */
const notSent = /"success":false/;

/** Arguments that name the receiver. After an interruption, models often rephrase the message. */
const places: Readonly<Record<string, string>> = {slack_send: 'channel', email_send: 'to'};

const isInterrupted = ({tool_call_id, content}: Message) =>
  tool_call_id !== undefined && content?.includes('"code":"INTERRUPTED"') === true;

/** Whether the settled part of a long conversation has an interrupted call. Most have none. */
const settled = new SettledPrefix<{any: boolean}>(
  () => ({any: false}),
  (state, message) => {
    state.any ||= isInterrupted(message);
  },
);

function hasInterrupted(messages: readonly Message[]): boolean {
  const {state, count} = settled.of(messages);
  if (state.any) return true;
  for (let i = count; i < messages.length; i++) if (isInterrupted(messages[i] as Message)) return true;
  return false;
}

/**
 * The first interrupted call that `call` repeats, or the first interrupted message to the same receiver, unless one of
 * them has completed since.
 */
export function findInterrupted(messages: readonly Message[], call: Call): InterruptedCall | undefined {
  if (!hasInterrupted(messages)) return undefined;
  const wanted = goalOf(call);
  const same = new Map<string, Call>();
  let first: Call | undefined;
  let isSame = false;
  for (const message of messages) {
    const {tool_calls = [], tool_call_id, content} = message;
    for (const each of tool_calls)
      if (goalOf(each) === wanted) same.set(each.id, each);
      else same.delete(each.id);
    const ended = tool_call_id === undefined ? undefined : same.get(tool_call_id);
    if (!ended) continue;
    if (isInterrupted(message)) {
      first ??= ended;
      isSame ||= essence(ended) === essence(call);
    } else if (!(placeOf(call) ? notSent : notMade).test(content ?? '')) {
      first = undefined;
      isSame = false;
    }
  }
  return first && {first, as: isSame ? 'call' : 'message'};
}

function goalOf(call: Call): string {
  return placeOf(call) ?? essence(call);
}

function placeOf({function: {name, arguments: args}}: Call): string | undefined {
  const tool = toolNamed(name) ?? '';
  const key = Object.hasOwn(places, tool) ? places[tool] : undefined;
  const place = key === undefined ? undefined : read(args)?.[key];
  return typeof place === 'string' ? `${tool} ${place.toLowerCase()}` : undefined;
}

/** The effect of a call, without its reason and timeout. */
function essence({function: {name, arguments: args}}: Call): string {
  const {reason: _, timeout_seconds: __, ...rest} = read(args) ?? {args};
  if (typeof rest.command === 'string') rest.command = rest.command.trim();
  return `${name} ${JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}

function read(args: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(args);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
