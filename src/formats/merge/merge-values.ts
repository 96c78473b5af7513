import {isDeepStrictEqual} from 'node:util';
import {isMap} from '../common/values.ts';
import {editYaml} from '../yaml/yaml-edit.ts';
import type {Path} from '../yaml/yaml-source.ts';

export interface ValueChange {
  path: Path;
  was: unknown;
  now: unknown;
}

/** Descends into maps, so that two changes within one map merge; lists are compared as a whole. */
export function valueChanges(was: unknown, now: unknown, path: Path = []): ValueChange[] {
  if (isDeepStrictEqual(was, now)) return [];
  if (!isMap(was) || !isMap(now)) return [{path, was, now}];
  const keys = new Set([...Object.keys(was), ...Object.keys(now)]);
  return [...keys].flatMap(key => valueChanges(ownValue(was, key), ownValue(now, key), [...path, key]));
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

/** Changes that apply to the person's value. Where both changed it, `lasts` says whether the daemon's value wins. */
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

/** `at`: position of the changed value in the text; `before`: key above which new keys go. */
export function setValues(text: string, changes: readonly ValueChange[], at: Path = [], before?: string): string {
  let now = text;
  for (const {path, now: to} of changes) {
    const full = [...at, ...path];
    now = editYaml(now, to === undefined ? {remove: full} : {set: full, to, ...(before ? {before} : {})});
  }
  return now;
}
