import {isEntryHead} from '../channel.ts';
import type {Kind} from '../common/key.ts';
import {startsWithText} from '../common/lines.ts';
import {noteKey, onlyLacksNotes} from './merge-memory.ts';
import {lastingFields} from './merge-task-changes.ts';

const LASTING = new RegExp(`^\\s*(?:- )?(?:${[...lastingFields].join('|')}):[ \\t]+\\S`);
const INLINE = new RegExp(`["'\`][ \\t]+(?:\\w+: \\S+[ \\t]+)*(?:${[...lastingFields].join('|')}): \\S`);
const NOTE = /^\s*- \d{4}-\d\d-\d\dT\S+ @\S+: /;
export const SET_BOX = /^\s*- (?:\[([/xX!-])\]|([x-]) )/;
export const OPEN_BOX = /^\s*- \[[ _]\]/;
const SESSION =
  /^\s*(?:- )*(?:started|approval|tool_call_id|delivery|timestamp|role: (?:assistant|tool_result)|usage)\b/;
const PAGE =
  /^(?:\*\*(?:Decision|Reviewed by|Reviewed at):\*\*[ \t]*[^\s<]|(?:status|digest|started|executed_at|outcome|approved_\w+|rejected_\w+):[ \t]*\S)/;

/** Key of a line that a stale buffer must not undo, by file kind; equal keys mean the same thing. */
export const lastingKey: Partial<Record<Kind, (line: string) => string | undefined>> = {
  tasks: line => {
    if (LASTING.test(line) || NOTE.test(line)) return line.trim();
    const box = SET_BOX.exec(line);
    if (box && INLINE.test(line)) return line.slice(line.indexOf(box[0]) + box[0].length).trim();
    return box ? `[${(box[1] ?? box[2] ?? '').toLowerCase()}]` : undefined;
  },
  session: line => {
    if (/^updated:/.test(line)) return line.replace(/["']/g, '').trim();
    return SESSION.test(line)
      ? line
          .replace(/^[\s-]+/, '')
          .replace(/["']/g, '')
          .trim()
      : undefined;
  },
  approval: line => (PAGE.test(line) ? line.trim() : undefined),
  memory: noteKey,
  channel: line => (isEntryHead(line) ? line.trim() : undefined),
  document: line => line.trim() || undefined,
};

/**
 * Whether a person's save `now` lacks something of `before` that a stale buffer must never undo: a start mark, a
 * result, a decision, a note. Compares lines only, so it may be true for a deliberate edit; `findMergeBase` decides.
 */
export function undoesLasting(kind: Kind, before: string, now: string): boolean {
  const keyOf = lastingKey[kind];
  // Appending undoes nothing.
  if (!keyOf || startsWithText(now, before)) return false;
  const [old, own] = (kind === 'session' && apartFromMessages(before, now)) || apart(before, now);
  const has = countEach(lastingKeysIn(own, keyOf));
  for (const key of lastingKeysIn(old, keyOf)) {
    const count = has.get(key) ?? 0;
    // Only a missing note may be a stale buffer with nothing new, but people must be able to remove notes, and parts of a document.
    if (count === 0) {
      if (kind === 'memory') return !onlyLacksNotes(before, now);
      return (kind !== 'channel' && kind !== 'document') || hasNewLines(old, own);
    }
    has.set(key, count - 1);
  }
  return false;
}

function hasNewLines(before: string, now: string): boolean {
  const known = new Set(before.split('\n').map(line => line.trim()));
  return now.split('\n').some(line => line.trim() !== '' && !known.has(line.trim()));
}

/** Lasting key of a line in a task file, except boxes, which are set and reset. */
export function lastingKeyButBoxes(line: string): string | undefined {
  const key = lastingKey.tasks?.(line);
  return key?.startsWith('[') ? undefined : key;
}

const STEP = 4_096;

/** Text from the messages on; the whole text if no line begins with `messages:`. */
export function messagesOf(text: string): string {
  const at = text.startsWith('messages:') ? 0 : text.indexOf('\nmessages:') + 1;
  return text.slice(at);
}

/** Two texts of a session without the messages of the first, if the second has all of them unchanged. */
function apartFromMessages(before: string, now: string): [string, string] | undefined {
  const [shared, all] = [messagesOf(before), messagesOf(now)];
  if (!shared.endsWith('\n') || !startsWithText(all, shared)) return undefined;
  return [before.slice(0, -shared.length), now.slice(0, -all.length) + all.slice(shared.length)];
}

/** Both texts without common whole lines at the beginning and end. */
function apart(a: string, b: string): [string, string] {
  const most = Math.min(a.length, b.length);
  let head = 0;
  // Large steps first: texts are long, and edits short.
  while (head + STEP < most && a.slice(head, head + STEP) === b.slice(head, head + STEP)) head += STEP;
  while (head < most && a.charCodeAt(head) === b.charCodeAt(head)) head++;
  head = head === 0 ? 0 : a.lastIndexOf('\n', head - 1) + 1;
  let tail = 0;
  const end = (text: string) => text.slice(text.length - tail - STEP, text.length - tail);
  while (tail + STEP < most - head && end(a) === end(b)) tail += STEP;
  while (tail < most - head && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail++;
  const next = tail === 0 ? -1 : a.indexOf('\n', a.length - tail);
  const after = next === -1 ? 0 : a.length - next - 1;
  return [a.slice(head, a.length - after), b.slice(head, b.length - after)];
}

export function* lastingKeysIn(text: string, keyOf: (line: string) => string | undefined): Generator<string> {
  for (const line of text.split('\n')) {
    const key = keyOf(line);
    if (key !== undefined) yield key;
  }
}

export function countEach(items: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}
