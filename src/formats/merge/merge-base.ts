import type {Kind} from '../common/key.ts';
import {fieldOf, type Task} from '../task/task.ts';
import {parseTasks} from '../task/task-parse.ts';
import {countEach, lastingKey, lastingKeyButBoxes, lastingKeysIn, OPEN_BOX, SET_BOX} from './merge-lasting.ts';
import {lastingFields} from './merge-task-changes.ts';

/** Index of the version that the person's text was made from. `versions`: newest first; `byPerson`: who saved each. */
export function findMergeBase(
  kind: Kind,
  versions: readonly string[],
  person: string,
  byPerson: readonly boolean[] = [],
): number {
  const own = kind === 'tasks' ? ownBuffers(versions, person, byPerson) : [];
  if (own.length > 0)
    return own[
      nearestVersion(
        own.map(i => versions[i] as string),
        person,
      )
    ] as number;
  const named = kind === 'session' ? updatedOf(person) : undefined;
  const all = [...versions.keys()];
  const same = named === undefined ? [] : all.filter(i => updatedOf(versions[i] as string) === named);
  const oldest = Math.min(oldestBase(kind, versions, person), oldestOwn(kind, versions, person, byPerson));
  const candidates = (same.length > 0 ? same : all).filter(i => i <= oldest);
  if (candidates.length <= 1) return candidates[0] ?? 0;
  const lines = countEach(person.split('\n'));
  const has = kind === 'tasks' ? new Set(parseTasks(person).tasks.map(task => fieldOf(task, 'id'))) : undefined;
  let best = candidates[0] ?? 0;
  let least = Number.POSITIVE_INFINITY;
  for (const index of candidates) {
    const {text, gone} = has
      ? withoutOthers(versions[index] as string, has)
      : {text: versions[index] as string, gone: 0};
    const changed = gone + changedLines(lines, text, least + 1);
    // Prefer the older of two equally near session versions: the newer one has messages that this editor did not write.
    if (changed > least || (changed === least && kind !== 'session')) continue;
    least = changed;
    best = index;
  }
  return best;
}

/** The version with the fewest different lines; the newest of several. */
export function nearestVersion(versions: readonly string[], person: string): number {
  const lines = countEach(person.split('\n'));
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [i, version] of versions.entries()) {
    const changed = changedLines(lines, version, least + 1);
    if (changed >= least) continue;
    [best, least] = [i, changed];
  }
  return best;
}

/**
 * A save always changes something, so a text equal to an older version was made from another version: a box was set,
 * reset and set again. Returns the person's saves since then, if the text has everything lasting of these. If it lacks
 * something that the person had seen, it comes from an older buffer after all.
 */
function ownBuffers(versions: readonly string[], person: string, byPerson: readonly boolean[]): number[] {
  const same = versions.indexOf(person);
  if (same <= 0) return [];
  const has = countEach(lastingKeysIn(person, lastingKeyButBoxes));
  const hasAll = (text: string) =>
    [...countEach(lastingKeysIn(text, lastingKeyButBoxes))].every(([key, count]) => (has.get(key) ?? 0) >= count);
  const own = [...versions.keys()].filter(i => i < same && byPerson[i] === true);
  return own.every(i => hasAll(versions[i] as string)) ? own : [];
}

/** Count a deleted task as one change: otherwise versions where it was shorter would seem nearer. */
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

/** The oldest possible base: a text with an id, time or note that a version introduced cannot be older than it. */
function oldestBase(kind: Kind, versions: readonly string[], person: string): number {
  const keyOf = lastingKey[kind];
  if (!keyOf) return versions.length;
  const has = new Set(lastingKeysIn(person, keyOf));
  const known = new Set<string>();
  let oldest = versions.length;
  // Start at the oldest: a stale save may have dropped a key that was merged in again later.
  for (let i = versions.length - 1; i >= 0; i--) {
    for (const key of lastingKeysIn(versions[i] as string, keyOf)) {
      if (key.startsWith('[') || known.has(key)) continue;
      known.add(key);
      if (has.has(key)) oldest = i;
    }
  }
  return oldest;
}

/**
 * Like `oldestBase`, for lines in task files that a person's save introduced: the text cannot be older than that save.
 * Boxes do not count, because anybody sets them.
 */
function oldestOwn(kind: Kind, versions: readonly string[], person: string, byPerson: readonly boolean[]): number {
  if (kind !== 'tasks') return versions.length;
  const has = new Set(
    person.split('\n').filter(line => line.trim() !== '' && !SET_BOX.test(line) && !OPEN_BOX.test(line)),
  );
  let oldest = versions.length;
  // A line counts for the version that introduced it, so look for each only until it is found.
  for (let i = versions.length - 1; i >= 0; i--)
    for (const line of (versions[i] as string).split('\n')) if (has.delete(line) && byPerson[i] === true) oldest = i;
  return oldest;
}

/** `updated:` above the messages, without quotes. */
function updatedOf(text: string): string | undefined {
  const end = text.startsWith('messages:') ? 0 : text.indexOf('\nmessages:');
  const head = end === -1 ? text : text.slice(0, end + 1);
  return /^\ufeff?updated:[ \t]+["']?([^\s"'#]+)/m.exec(head)?.[1];
}

/** Number of lines that only one of the two has, in any order; `most` if at least that many. */
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

/**
 * Whether `now` may be based on an older version than the person's last save: something of a task in both differs from
 * `before`, the last known version. If only whole tasks are gone, the person removed them. Always true for sessions,
 * which name their base.
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
