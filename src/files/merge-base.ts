import type {Kind} from './key.ts';
import {lastingFields} from './merge-task-changes.ts';
import {fieldOf, type Task} from './task.ts';
import {parseTasks} from './task-parse.ts';

/** Which of `versions` (newest first, the last known at 0) the person's text was made from. */
export function baseOf(kind: Kind, versions: readonly string[], person: string): number {
  const named = kind === 'session' ? updatedOf(person) : undefined;
  const all = [...versions.keys()];
  const same = named === undefined ? [] : all.filter(i => updatedOf(versions[i] as string) === named);
  const oldest = oldestBase(kind, versions, person);
  const candidates = (same.length > 0 ? same : all).filter(i => i <= oldest);
  if (candidates.length <= 1) return candidates[0] ?? 0;
  const lines = countOf(person.split('\n'));
  let best = candidates[0] ?? 0;
  let least = Number.POSITIVE_INFINITY;
  for (const index of candidates) {
    const changed = changedLines(lines, versions[index] as string, least + 1);
    // Of two sessions as near, the older: what the newer has beside it was written by somebody else.
    if (changed > least || (changed === least && kind !== 'session')) continue;
    least = changed;
    best = index;
  }
  return best;
}

/**
 * A text that has an id, a time or a note which a version brought in cannot be from before that version. The oldest
 * version it can be from.
 */
function oldestBase(kind: Kind, versions: readonly string[], person: string): number {
  const keyOf = lasting[kind];
  if (!keyOf) return versions.length;
  const has = new Set(keysOf(person, keyOf));
  const known = new Set<string>();
  let oldest = versions.length;
  // From the oldest on: a stale save may have dropped a key that was merged in again after it.
  for (let i = versions.length - 1; i >= 0; i--) {
    for (const key of keysOf(versions[i] as string, keyOf)) {
      if (key.startsWith('[') || known.has(key)) continue;
      known.add(key);
      if (has.has(key)) oldest = i;
    }
  }
  return oldest;
}

/** `updated:` above the messages, without its quotes. */
function updatedOf(text: string): string | undefined {
  const end = text.startsWith('messages:') ? 0 : text.indexOf('\nmessages:');
  const head = end === -1 ? text : text.slice(0, end + 1);
  return /^\ufeff?updated:[ \t]+["']?([^\s"'#]+)/m.exec(head)?.[1];
}

function countOf(items: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

/** Lines that only one of the two has, wherever they stand; `most` if at least that many. */
function changedLines(lines: ReadonlyMap<string, number>, version: string, most: number): number {
  const left = new Map(lines);
  let changed = 0;
  for (const line of version.split('\n')) {
    const count = left.get(line) ?? 0;
    if (count > 0) left.set(line, count - 1);
    else if (++changed >= most) return most;
  }
  for (const count of left.values()) changed += count;
  return changed;
}

const LASTING = new RegExp(`^\\s*(?:- )?(?:${[...lastingFields].join('|')}):[ \\t]+\\S`);
const INLINE = new RegExp(`["'\`][ \\t]+(?:\\w+: \\S+[ \\t]+)*(?:${[...lastingFields].join('|')}): \\S`);
const NOTE = /^\s*- \d{4}-\d\d-\d\dT\S+ @\S+: /;
const BOX = /^\s*- (?:\[([/xX!-])\]|([x-]) )/;
const SESSION =
  /^\s*(?:- )*(?:started|approval|tool_call_id|delivery|timestamp|role: (?:assistant|tool_result)|usage)\b/;
const PAGE =
  /^(?:\*\*(?:Decision|Reviewed by|Reviewed at):\*\*[ \t]*[^\s<]|(?:status|digest|started|executed_at|outcome|approved_\w+|rejected_\w+):[ \t]*\S)/;

/** What in a text of this kind a stale buffer must not undo, line by line: equal words are the same thing. */
const lasting: Partial<Record<Kind, (line: string) => string | undefined>> = {
  tasks: line => {
    if (LASTING.test(line) || NOTE.test(line)) return line.trim();
    const box = BOX.exec(line);
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
};

/**
 * Whether `now`, which a person saved, lacks something of `before` that a stale buffer must never undo: a start mark, a
 * result, a decision, a note. Looks at lines alone, so it may say yes to an edit that meant it; `baseOf` tells.
 */
export function undoes(kind: Kind, before: string, now: string): boolean {
  const keyOf = lasting[kind];
  // What was only added to undoes nothing.
  if (!keyOf || now.startsWith(before)) return false;
  const has = countOf(keysOf(now, keyOf));
  for (const key of keysOf(before, keyOf)) {
    const count = has.get(key) ?? 0;
    if (count === 0) return true;
    has.set(key, count - 1);
  }
  return false;
}

/**
 * Whether `now` may have been made from an older version than the person's last save: something of a task that both
 * have is not as it is in `before`, the last known version. If only whole tasks are gone, the person removed them. A
 * session names the version it was made from, so there it is never ruled out.
 */
export function mayBeOlder(kind: Kind, before: string, now: string): boolean {
  if (kind !== 'tasks') return true;
  const byId = new Map<string, Task>();
  const byTitle = new Map<string, Task>();
  for (const task of parseTasks(before).tasks) {
    const id = fieldOf(task, 'id');
    if (id !== undefined) byId.set(id, task);
    byTitle.set(task.title, task);
  }
  return parseTasks(now).tasks.some(task => {
    const id = fieldOf(task, 'id');
    const was = id === undefined ? byTitle.get(task.title) : byId.get(id);
    if (!was) return false;
    const differs = was.fields.some(({key, value}) => lastingFields.has(key) && fieldOf(task, key) !== value);
    return differs || was.state !== task.state || was.notes.length > task.notes.length;
  });
}

function* keysOf(text: string, keyOf: (line: string) => string | undefined): Generator<string> {
  for (const line of text.split('\n')) {
    const key = keyOf(line);
    if (key !== undefined) yield key;
  }
}
