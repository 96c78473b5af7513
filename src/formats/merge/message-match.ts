import {align, alignEnds, type Match, noMatch} from '../common/align.ts';
import {isMap} from './merge-values.ts';

/** A message as it stands in the file; its value is read when asked for. */
export interface MessagePart {
  text: string;
  value(): Record<string, unknown>;
}

/** Which message of `from` is which of `to`, one list being an edit of the other. Only what differs is read. */
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

/** What a message is known by: its call, the result's call, the delivery. */
export function messageIdentity(part: MessagePart): string | undefined {
  const {role, tool_call_id: result, tool_calls: calls, delivery} = part.value();
  if (role === 'tool_result') return `result ${String(result)}`;
  if (Array.isArray(calls) && calls.length > 0) return `calls ${calls.map(callIdOf).join(' ')}`;
  return delivery === undefined ? undefined : `delivery ${String(delivery)}`;
}

/** What the daemon never changes about a message. */
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
