import {appendFileSync, existsSync, lstatSync, mkdirSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {crashPoint} from '../disk/crash.ts';

/** Where the parts of a repository are: the same folder but for a linked worktree. */
export interface GitDirs {
  /** HEAD, index and whatever else is this worktree's own. */
  own: string;
  /** Objects, branches, configuration. */
  common: string;
}

/** What HEAD is: a branch or, without one, a commit alone. Without a commit: nothing was committed yet. */
export interface Head {
  branch: string | undefined;
  commit: string | undefined;
}

const ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** Costs two small reads. What this code does not write (a linked HEAD, a branch that names a branch) says so. */
export function readHead(dirs: GitDirs): Head | {unsupported: string} {
  const path = join(dirs.own, 'HEAD');
  if (lstatSync(path).isSymbolicLink()) return {unsupported: 'HEAD is a link'};
  const text = readFileSync(path, 'latin1').trim();
  if (ID.test(text)) return {branch: undefined, commit: text};
  const branch = Buffer.from(/^ref:\s*(\S+)$/.exec(text)?.[1] ?? '', 'latin1').toString('utf8');
  if (!branch.startsWith('refs/heads/')) return {unsupported: `HEAD is ${text.slice(0, 80)}`};
  const value = readRef(dirs, branch);
  if (value !== undefined && !ID.test(value)) return {unsupported: `${branch} is ${value.slice(0, 80)}`};
  return {branch, commit: value};
}

export function sameHead(a: Head, b: Head | {unsupported: string}): boolean {
  return 'commit' in b && a.branch === b.branch && a.commit === b.commit;
}

function readRef(dirs: GitDirs, name: string): string | undefined {
  for (;;) {
    const loose = textOf(join(dirs.common, name));
    if (loose !== undefined) return loose.trim();
    const before = stamp(dirs);
    const packed = packedRef(dirs, name);
    if (packed !== undefined) return packed;
    // A branch being packed is in neither for a moment: look again unless nothing moved.
    if (textOf(join(dirs.common, name)) === undefined && stamp(dirs) === before) return undefined;
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined;
    throw error;
  }
}

function stamp(dirs: GitDirs): string {
  const stat = lstatSync(join(dirs.common, 'packed-refs'), {throwIfNoEntry: false, bigint: true});
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : '';
}

const packed = new Map<string, {stamp: string; ids: Map<string, string>}>();

function packedRef(dirs: GitDirs, name: string): string | undefined {
  const now = stamp(dirs);
  let known = packed.get(dirs.common);
  if (known?.stamp !== now) {
    const ids = new Map<string, string>();
    for (const line of (textOf(join(dirs.common, 'packed-refs')) ?? '').split('\n')) {
      const space = line.indexOf(' ');
      if (ID.test(line.slice(0, space)))
        ids.set(Buffer.from(line.slice(space + 1), 'latin1').toString('utf8'), line.slice(0, space));
    }
    known = {stamp: now, ids};
    packed.set(dirs.common, known);
  }
  return known.ids.get(name);
}

/** One line for each move of HEAD and of its branch, as git writes them. `create`: also where there was no log yet. */
export function appendReflogs(dirs: GitDirs, head: Head, to: string, who: string, what: string, create: boolean): void {
  const line = `${head.commit ?? '0'.repeat(to.length)} ${to} ${who}\t${what.replace(/\s+/g, ' ')}\n`;
  const logs = [join(dirs.own, 'logs/HEAD'), ...(head.branch ? [join(dirs.common, 'logs', head.branch)] : [])];
  for (const path of logs) {
    if (!existsSync(path)) {
      if (!create) continue;
      mkdirSync(dirname(path), {recursive: true});
    }
    appendFileSync(path, line);
    crashPoint('journal-reflog');
  }
}

/** Which of these commits HEAD came to, at last, by `git commit`: not by `reset: moving to …` and the like. */
export function plainCommits({own}: GitDirs, commits: ReadonlySet<string>): Set<string> {
  const path = join(own, 'logs/HEAD');
  const plain = new Set<string>();
  if (commits.size === 0 || !existsSync(path)) return plain;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const commit = line.slice(line.indexOf(' ') + 1, line.indexOf(' ', line.indexOf(' ') + 1));
    if (!commits.has(commit)) continue;
    if (PLAIN.test(line.slice(line.indexOf('\t') + 1))) plain.add(commit);
    else plain.delete(commit);
  }
  return plain;
}

const PLAIN = /^commit(?: \((?:amend|initial)\))?: /;
