import {appendFileSync, existsSync, lstatSync, mkdirSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {crashPoint} from '../disk/crash.ts';

/** The git folders of a repository. They differ only in a linked worktree. */
export interface GitDirs {
  /** HEAD, index and other files of this worktree. */
  own: string;
  /** Objects, branches, configuration. */
  common: string;
}

/** HEAD. Without a branch it is detached; without a commit there is none yet. */
export interface Head {
  branch: string | undefined;
  commit: string | undefined;
}

const ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** Costs two small reads. `unsupported`: a HEAD that this code cannot write (a symbolic link, a symbolic branch). */
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
    // While git packs refs, a branch may be in neither place: read again if anything changed.
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

/** Append a line to the reflogs of HEAD and its branch, as git does. `create`: also create missing logs. */
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

/** Which of these commits HEAD last reached by `git commit`, not by `reset: moving to …` or similar. */
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

/**
 * Whether somebody used `git reset`, `git checkout` or similar since then (milliseconds), also one that left HEAD at the same commit. To the
 * second: the reflog says no more. The daemon's own lines read like those of `git commit`.
 */
export function isMovedSince({own}: GitDirs, since: number): boolean {
  const path = join(own, 'logs/HEAD');
  const changed = lstatSync(path, {throwIfNoEntry: false})?.mtimeMs ?? 0;
  if (changed < since) return false;
  return readFileSync(path, 'utf8')
    .split('\n')
    .some(line => {
      const [who = '', what = ''] = line.split('\t');
      const at = Number(who.split(' ').at(-2));
      return at >= Math.floor(since / 1_000) && !PLAIN.test(what);
    });
}

const PLAIN = /^commit(?: \((?:amend|initial)\))?: /;
