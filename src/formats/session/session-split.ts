import {isWork} from './chain.ts';
import {type Item, newSession, parseHeader, parseSession, type Session} from './session.ts';
import type {Message, SessionHeader} from './session-schema.ts';

/** In characters. A larger session moves its older messages to another file. */
export const SPLIT_AT = 256 * 1024;
/** Minimum size of the part that stays. */
const STAYS = 32 * 1024;

/**
 * Number of leading messages that may move: all finished ones except the current work and some of the end. `isKept`:
 * messages that stay, with all that follow. 0: none.
 */
export function splitPlace({items, messages}: Session, isKept = (_message: Message) => false): number {
  if (!items) return 0;
  const kept = messages.findIndex(isKept);
  let place = messages.findLastIndex(isWork);
  let stays = 0;
  for (let i = items.length - 1; i >= place; i--) stays += items[i]?.text.length ?? 0;
  while (place > 0 && stays < STAYS) stays += items[--place]?.text.length ?? 0;
  if (kept !== -1) place = Math.min(place, kept);
  if (place <= 0) return 0;
  // Never separate a call from its result.
  const answered = new Map<string, number>();
  for (const [i, {tool_call_id}] of messages.entries()) if (tool_call_id !== undefined) answered.set(tool_call_id, i);
  for (const [i, {tool_calls = []}] of messages.entries()) {
    if (i >= place) break;
    if (tool_calls.some(({id}) => (answered.get(id) ?? place) >= place)) return i;
  }
  return place;
}

/** Split off the first messages into a file of their own. */
export function splitSession(
  session: Session,
  place: number,
  header: SessionHeader,
  schema: string,
): {older: Session; rest: Session} {
  const items = session.items ?? [];
  const older = items.slice(0, place);
  const left = items.slice(place);
  const head = newSession(header, [], schema).replace(/messages: \[\]\n$/, 'messages:\n');
  const read = older.every(({plain}) => plain) ? parseHeader(head, '') : undefined;
  return {
    older: read
      ? {...session, head, foot: '', header: read, ...bodyOf(older)}
      : parseSession(head + older.map(({text}) => text).join('')),
    rest: {...session, ...bodyOf(left)},
  };
}

function bodyOf(items: readonly Item[]): Pick<Session, 'body' | 'items' | 'messages'> {
  return {body: items.map(({text}) => text).join(''), items, messages: items.map(({value}) => value)};
}
