import {align, alignEnds, type Match, noMatch} from '../common/align.ts';
import {isMap} from '../common/values.ts';

/** A message as in the file; its value is parsed on demand. */
export interface MessagePart {
  text: string;
  value(): Record<string, unknown>;
}

/** Match messages of two versions of a list. Parses only what differs. */
export function matchMessages(from: readonly MessagePart[], to: readonly MessagePart[]): Match {
  const match = noMatch(from.length, to.length);
  const by = (key: (part: MessagePart) => string | undefined) => ({
    from: (i: number) => key(from[i] as MessagePart),
    to: (j: number) => key(to[j] as MessagePart),
  });
  const lines = by(part => part.text.trimEnd());
  alignEnds(match, (i, j) => lines.from(i) === lines.to(j));
  align(match, {...lines, even: true});
  align(match, {...by(substance), even: true});
  align(match, {...lines, gaps: true});
  align(match, {...by(messageIdentity), even: true});
  align(match, {...by(timeKey), gaps: true, even: true});
  align(match, {...by(part => String(part.value().role)), gaps: true});
  align(match, lines);
  return match;
}

/** Identity of a message: its calls, its result's call, or its delivery. */
export function messageIdentity(part: MessagePart): string | undefined {
  const {role, tool_call_id: result, tool_calls: calls, delivery} = part.value();
  if (role === 'tool_result') return `result ${String(result)}`;
  if (Array.isArray(calls) && calls.length > 0) return `calls ${calls.map(callIdOf).join(' ')}`;
  return delivery === undefined ? undefined : `delivery ${String(delivery)}`;
}

/** The part of a message that the daemon never changes. */
function substance(part: MessagePart): string {
  const {role, content} = part.value();
  return JSON.stringify([role, content, messageIdentity(part)]);
}

export function callIdOf(call: unknown): string {
  return isMap(call) ? String(call.id) : '';
}

function timeKey(part: MessagePart): string | undefined {
  const {role, timestamp} = part.value();
  return timestamp === undefined ? undefined : `${String(role)} ${String(timestamp)}`;
}
