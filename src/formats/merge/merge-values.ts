import {isDeepStrictEqual} from 'node:util';
import {editYaml} from '../yaml/yaml-edit.ts';
import type {Path} from '../yaml/yaml-source.ts';

/** One value that is another in the later version; undefined where there is none. */
export interface ValueChange {
  path: Path;
  was: unknown;
  now: unknown;
}

/** Maps are gone into, so that two changes within one go together; lists are values. */
export function valueChanges(was: unknown, now: unknown, path: Path = []): ValueChange[] {
  if (isDeepStrictEqual(was, now)) return [];
  if (!isMap(was) || !isMap(now)) return [{path, was, now}];
  const keys = new Set([...Object.keys(was), ...Object.keys(now)]);
  return [...keys].flatMap(key => valueChanges(ownValue(was, key), ownValue(now, key), [...path, key]));
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function ownValue(map: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const step of path) {
    if (Array.isArray(at) && typeof step === 'number') at = at[step];
    else if (isMap(at)) at = ownValue(at, String(step));
    else return undefined;
  }
  return at;
}

/** Those changes that go onto the person's value. Where both changed it, `lasts` says whether the person's gives way. */
export function settleValues(
  changes: readonly ValueChange[],
  person: unknown,
  lasts: (path: Path) => boolean,
  said: (words: string) => void,
): ValueChange[] {
  return changes.filter(({path, was, now}) => {
    const theirs = valueAt(person, path);
    if (isDeepStrictEqual(theirs, now)) return false;
    if (isDeepStrictEqual(theirs, was)) return true;
    const lasting = lasts(path);
    said(`${path.join('.')} was changed on both sides; ${lasting ? "the daemon's stays" : 'yours is kept'}`);
    return lasting;
  });
}

/** `at` is where the changed value stands in the text, `before` the key above which new ones go. */
export function setValues(text: string, changes: readonly ValueChange[], at: Path = [], before?: string): string {
  let now = text;
  for (const {path, now: to} of changes) {
    const full = [...at, ...path];
    now = editYaml(now, to === undefined ? {remove: full} : {set: full, to, ...(before ? {before} : {})});
  }
  return now;
}
