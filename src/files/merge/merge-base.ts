import type {Kind} from '../key.ts';
import {fieldOf, type Task} from '../task/task.ts';
import {parseTasks} from '../task/task-parse.ts';
import {noteKey, onlyLacksNotes} from './merge-memory.ts';
import {lastingFields} from './merge-task-changes.ts';

/** Which of `versions` (newest first, the last known at 0) the person's text was made from. */
export function baseOf(kind: Kind, versions: readonly string[], person: string): number {
  const named = kind === 'session' ? updatedOf(person) : undefined;
  const all = [...versions.keys()];
  const same = named === undefined ? [] : all.filter(i => updatedOf(versions[i] as string) === named);
  const oldest = oldestBase(kind, versions, person);
  const candidates = (same.length > 0 ? same : all).filter(i => i <= oldest);
  if (candidates.length <= 1) return candidates[0] ?? 0;
  const lines = countOf(person.split('\n'));
  const has = kind === 'tasks' ? new Set(parseTasks(person).tasks.map(task => fieldOf(task, 'id'))) : undefined;
  let best = candidates[0] ?? 0;
  let least = Number.POSITIVE_INFINITY;
  for (const index of candidates) {
    const {text, gone} = has
      ? withoutOthers(versions[index] as string, has)
      : {text: versions[index] as string, gone: 0};
    const changed = gone + changedLines(lines, text, least + 1);
    // Of two sessions as near, the older: what the newer has beside it was written by somebody else.
    if (changed > least || (changed === least && kind !== 'session')) continue;
    least = changed;
    best = index;
  }
  return best;
}

/** A task that is gone is one change, however many lines it had: else a version in which it was shorter seems nearer. */
function withoutOthers(version: string, ids: ReadonlySet<string | undefined>): {text: string; gone: number} {
  let [text, at, gone] = ['', 0, 0];
  for (const task of parseTasks(version).tasks) {
    const id = fieldOf(task, 'id');
    if (id === undefined || ids.has(id) || task.start < at) continue;
    text += version.slice(at, task.start);
    at = task.end;
    gone++;
  }
  return {text: text + version.slice(at), gone};
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
  memory: noteKey,
};

/**
 * Whether `now`, which a person saved, lacks something of `before` that a stale buffer must never undo: a start mark, a
 * result, a decision, a note. Looks at lines alone, so it may say yes to an edit that meant it; `baseOf` tells.
 */
export function undoes(kind: Kind, before: string, now: string): boolean {
  const keyOf = lasting[kind];
  // What was only added to undoes nothing.
  if (!keyOf || now.startsWith(before)) return false;
  // Lines that both begin and end with are the same on both sides, however many.
  const [old, own] = apart(before, now);
  const has = countOf(keysOf(own, keyOf));
  for (const key of keysOf(old, keyOf)) {
    const count = has.get(key) ?? 0;
    // Nothing but a note gone may be a stale buffer with nothing new in it; but persons must be able to take notes out.
    if (count === 0) return kind !== 'memory' || !onlyLacksNotes(before, now);
    has.set(key, count - 1);
  }
  return false;
}

/**
 * Whether nothing of `versions[0]` is gone from the person's text but boxes that a person had set last: those are theirs
 * to set again, though the text may then be one that was there before. `byPerson` tells who made each version.
 */
export function onlyResets(versions: readonly string[], byPerson: readonly boolean[], person: string): boolean {
  const [last = ''] = versions;
  const keyOf = (line: string) => {
    const key = lasting.tasks?.(line);
    return key?.startsWith('[') ? undefined : key;
  };
  const has = countOf(keysOf(person, keyOf));
  for (const [key, count] of countOf(keysOf(last, keyOf))) if ((has.get(key) ?? 0) < count) return false;
  const now = statesIn(person);
  const history = versions.map(statesIn);
  return [...(history[0] ?? [])].every(([task, state]) => {
    if (!now.has(task) || now.get(task) === state) return true;
    const before = history.findIndex(states => states.get(task) !== state);
    return before > 0 && byPerson[before - 1] === true;
  });
}

/** By id, or by title where there is none. */
function statesIn(text: string): Map<string, string> {
  return new Map(parseTasks(text).tasks.map(task => [fieldOf(task, 'id') ?? `"${task.title}`, task.state]));
}

const STEP = 4_096;

/** Both texts without the whole lines that they begin and end with alike. */
function apart(a: string, b: string): [string, string] {
  const most = Math.min(a.length, b.length);
  let head = 0;
  // In large steps first: texts are long, and edits short.
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
