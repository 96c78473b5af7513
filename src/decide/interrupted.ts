import type {Call, Message} from '../formats/session/session-schema.ts';
import {toolNamed} from '../policy/tools.ts';

/** A call that was interrupted, and what another one has to do with it. */
export interface InterruptedCall {
  first: Call;
  /** `call`: it does the same; `message`: it goes to the same people, in whatever words. */
  as: 'call' | 'message';
}

/** These came to nothing: they say nothing about what ran before. */
const notMade = /"code":"(?:REJECTED|DENIED|NOT_ALLOWED|INVALID_ARGUMENTS|EXPIRED)"/;
/** Of a message: it was not sent. */
const notSent = /"success":false/;

/** Whom messages go to. A model that is told of an interruption often puts it in other words. */
const places: Readonly<Record<string, string>> = {slack_send: 'channel', email_send: 'to'};

/**
 * The same call as it was made before, or a message to the same place, if it was interrupted then and has not come to an
 * end since. The first of them.
 */
export function findInterrupted(messages: readonly Message[], call: Call): InterruptedCall | undefined {
  const wanted = goalOf(call);
  const same = new Map<string, Call>();
  let first: Call | undefined;
  let isSame = false;
  for (const {tool_calls = [], tool_call_id, content} of messages) {
    for (const each of tool_calls)
      if (goalOf(each) === wanted) same.set(each.id, each);
      else same.delete(each.id);
    const ended = tool_call_id === undefined ? undefined : same.get(tool_call_id);
    if (!ended) continue;
    if (content?.includes('"code":"INTERRUPTED"')) {
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

/** What a call does, whatever words go with it. */
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
