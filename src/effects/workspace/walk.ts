import {type Dirent, fstatSync, opendirSync, readdirSync} from 'node:fs';
import {isFailure} from '../tool/failure.ts';
import {pace} from '../tool/pace.ts';
import type {ToolContext, ToolFailure} from '../tool/tool.ts';
import {assertInPlace, closeFolder, type Folder, openBelow, openFolder} from './folder.ts';
import {isGitName} from './git-name.ts';
import {type IgnoreRules, ignoreFiles, ignoring, isNeverSearched, noRules, withIgnoreFiles} from './ignore-rules.ts';
import {type Root, shownPath, type ToolPath} from './place.ts';
import {isTemporary} from './replace-file.ts';

const MOST_ENTRIES = 200_000;
const MOST_IN_FOLDER = 50_000;
const DEEPEST = 64;
const MOST_MILLISECONDS = 20_000;

/** `folder` is open only during the visit. */
export interface WalkEntry<T> {
  folder: Folder;
  name: string;
  /** Path components below the root of the place. */
  parts: readonly string[];
  kind: 'file' | 'directory' | 'link' | 'other';
  /** Result of `enter` for its folder. */
  state: T;
}

export interface Visitor<T> {
  start: T;
  /** Undefined: skip this folder. */
  enter: (state: T, name: string) => T | undefined;
  /** False ends the walk. */
  visit: (found: WalkEntry<T>) => boolean | Promise<boolean>;
  /** Apply ignore files, except to the place itself. */
  ignoring: boolean;
  /** Skip names that begin with a dot, unless an ignore file keeps them. */
  withoutHidden?: boolean;
}

export interface WalkResult {
  incomplete?: string;
  ignored: number;
  hidden: number;
}

interface Walk<T> {
  visitor: Visitor<T>;
  root: Root;
  breathe: () => Promise<void> | undefined;
  until: number;
  left: number;
  walked: WalkResult;
  ended: boolean;
}

/** Visit everything below a place that agents may see, sorted by name, without following links. */
export async function walkFolder<T>(
  context: ToolContext,
  place: ToolPath,
  visitor: Visitor<T>,
): Promise<WalkResult | ToolFailure> {
  let rules = noRules;
  let depth = 0;
  const entered = (folder: Folder) => {
    if (visitor.ignoring) rules = withIgnoreFiles(folder, depth++, rules, () => true);
  };
  const folder = openFolder(context, place, place.parts, {entered});
  if (isFailure(folder)) return folder;
  const walk: Walk<T> = {
    visitor,
    root: place.root,
    breathe: pace(context.signal),
    until: performance.now() + MOST_MILLISECONDS,
    left: MOST_ENTRIES,
    walked: {ignored: 0, hidden: 0},
    ended: false,
  };
  try {
    await walkEntries(walk, folder, place.parts, visitor.start, rules);
  } finally {
    closeFolder(folder);
  }
  return walk.walked;
}

async function walkEntries<T>(
  walk: Walk<T>,
  folder: Folder,
  parts: readonly string[],
  state: T,
  above: IgnoreRules,
): Promise<void> {
  const {visitor, walked} = walk;
  const entries = entriesOf(folder, Math.min(walk.left, MOST_IN_FOLDER));
  if (entries.cut)
    walked.incomplete = `${shownPath(walk.root, parts)} has more than ${entries.list.length} entries, not all of which were seen; name one`;
  walk.left -= entries.list.length;
  const rules = visitor.ignoring ? withIgnoreFiles(folder, parts.length, above, entries.has) : above;

  for (const entry of entries.list) {
    const {name} = entry;
    const path = [...parts, name];
    const kind = entryType(entry);
    const said = visitor.ignoring ? ignoring(rules, path, kind === 'directory') : undefined;
    if (said === 'ignored') walked.ignored++;
    else if (visitor.withoutHidden && said !== 'kept' && name.startsWith('.')) walked.hidden++;
    else {
      const more = visitor.visit({folder, name, parts: path, kind, state});
      if (!(typeof more === 'boolean' ? more : await more)) walk.ended = true;
      if (walk.ended) return;
      if (kind === 'directory') await descend(walk, folder, name, path, state, rules);
    }
    const pause = walk.breathe();
    if (pause) await pause;
    if (performance.now() > walk.until) end(walk, 'it took too long; name a folder');
    else if (walk.left <= 0) end(walk, 'there are too many files; name a folder');
    if (walk.ended) return;
  }
}

async function descend<T>(
  walk: Walk<T>,
  folder: Folder,
  name: string,
  path: readonly string[],
  state: T,
  rules: IgnoreRules,
): Promise<void> {
  if (isNeverSearched(name)) return;
  const next = walk.visitor.enter(state, name);
  if (next === undefined) return;
  if (path.length > DEEPEST) {
    walk.walked.incomplete = `folders deeper than ${DEEPEST} were not entered`;
    return;
  }
  let below: Folder;
  try {
    below = openBelow(folder, name);
  } catch {
    // The folder is gone, was replaced by a link, or is unreadable.
    return;
  }
  try {
    await walkEntries(walk, below, path, next, rules);
  } finally {
    closeFolder(below);
  }
}

function end<T>(walk: Walk<T>, why: string): void {
  walk.walked.incomplete = why;
  walk.ended = true;
}

/** Entries of a folder sorted by name, without those hidden from agents. */
export function entriesOf(
  folder: Folder,
  most: number,
): {list: Dirent[]; cut: boolean; has: (name: string) => boolean} {
  const list: Dirent[] = [];
  const special = new Set<string>();
  assertInPlace(folder);
  let cut = false;
  for (const entry of entriesAt(folder)) {
    if (isGitName(entry.name) || isTemporary(entry.name)) continue;
    if (ignoreFiles.includes(entry.name)) special.add(entry.name);
    if (list.length >= most) {
      cut = true;
      break;
    }
    list.push(entry);
  }
  assertInPlace(folder);
  list.sort((a, b) => (a.name < b.name ? -1 : 1));
  return {list, cut, has: name => special.has(name)};
}

/** In bytes: such a directory has at most some thousand entries on common file systems. */
const SMALL = 64 * 1024;

/** Read a small directory at once, which is twice as fast, and a large one entry by entry. */
function entriesAt(folder: Folder): Iterable<Dirent> {
  if (fstatSync(folder.fd).size <= SMALL) return readdirSync(folder.path, {withFileTypes: true});
  return oneByOne(folder.path);
}

function* oneByOne(path: string): Generator<Dirent> {
  const directory = opendirSync(path, {bufferSize: 256});
  try {
    for (let entry = directory.readSync(); entry; entry = directory.readSync()) yield entry;
  } finally {
    directory.closeSync();
  }
}

export function entryType(entry: Dirent): 'file' | 'directory' | 'link' | 'other' {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
