import {isJournalled, kindOf} from '../../formats/common/key.ts';
import {git} from './git.ts';
import {type Head, readHead} from './git-refs.ts';
import type {Repository} from './git-repository.ts';
import type {Leaf} from './git-trees.ts';

export const EXECUTABLE = '100755';

export interface Version {
  blob: string;
  commit: string;
  /** The trailer `Cause`. Undefined: a person's own commit. */
  cause: string | undefined;
  /** A person's edit, recorded by the daemon. False for a person's own commit, which may contain other authors' changes. */
  byPerson: boolean;
  /** Commit time in milliseconds since 1970. Git keeps only seconds. */
  at: number;
}

/** Whether a commit of the daemon's records a person's edit. Edits made while no daemon ran have the cause `recovered`. */
export function isEdit(cause: string | undefined, isTheirs: boolean): boolean {
  return cause === 'edit' || (cause === 'recovered' && isTheirs);
}

/** Convert a path in the repository to a path in the home. Undefined: not a journalled file of the home. */
export function homePath({prefix}: Repository, path: string): string | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const inner = path.slice(prefix.length);
  const kind = kindOf(inner);
  return kind && isJournalled(kind) ? inner : undefined;
}

/** Files of the home in a commit. */
export interface Files {
  /** Blob ids by path. */
  blobs: Map<string, string>;
  executable: Set<string>;
}

export async function filesOf(repository: Repository, commit: string | undefined): Promise<Files> {
  const files: Files = {blobs: new Map(), executable: new Set()};
  if (!commit) return files;
  const below = repository.prefix ? ['--', repository.prefix] : [];
  const listed = await must(repository, ['ls-tree', '-r', '-z', '--full-tree', commit, ...below]);
  // `MODE blob ID\tPATH\0`, and all modes have six digits.
  for (let at = 0; at < listed.length; ) {
    const tab = listed.indexOf('\t', at);
    const end = listed.indexOf('\0', tab);
    const path = listed.startsWith('blob ', at + 7) ? homePath(repository, listed.slice(tab + 1, end)) : undefined;
    if (path !== undefined) files.blobs.set(path, listed.slice(at + 12, tab));
    if (path !== undefined && listed.startsWith(EXECUTABLE, at)) files.executable.add(path);
    at = end + 1;
  }
  return files;
}

/** Files of the home that differ between two commits, as they are in `to`. Undefined: removed. */
export async function changedFiles(
  repository: Repository,
  from: string,
  to: string,
): Promise<Map<string, Leaf | undefined>> {
  const below = repository.prefix ? ['--', repository.prefix] : [];
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to, ...below];
  const changed = new Map<string, Leaf | undefined>();
  const fields = (await must(repository, args)).split('\0');
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const path = homePath(repository, fields[i + 1] ?? '');
    const [, mode = '', , id = ''] = (fields[i] ?? '').split(' ');
    if (path !== undefined) changed.set(path, /^0+$/.test(mode) || /^0+$/.test(id) ? undefined : {id, mode});
  }
  return changed;
}

/** Git writes this into HEAD if refs are not stored as files. */
const NO_FILES = 'refs/heads/.invalid';

export async function resolveHead(repository: Repository): Promise<Head> {
  const head = readHead(repository.dirs);
  return 'commit' in head && head.branch !== NO_FILES ? head : headByGit(repository);
}

/** Resolve HEAD with git commands, for repositories whose files this code cannot read. */
async function headByGit({top}: Repository): Promise<Head> {
  const [branch, commit] = await Promise.all([
    git(top, ['symbolic-ref', '-q', 'HEAD']),
    git(top, ['rev-parse', '-q', '--verify', 'HEAD^{commit}']),
  ]);
  return {branch: branch.stdout.trim() || undefined, commit: commit.stdout.trim() || undefined};
}

/** The last n versions of a file, newest first. `ever`: also those older than 7 days. */
export async function recentVersions(
  repository: Repository,
  path: string,
  n: number,
  ever = false,
): Promise<Version[]> {
  const format = '--format=%x01%H%x00%(trailers:key=Cause,valueonly)%x00%an <%ae>%x00%cn <%ce>%x00%ct%x00';
  const args = [
    'log',
    '-z',
    '--raw',
    '--no-abbrev',
    '--no-renames',
    `--max-count=${n}`,
    ...(ever ? [] : ['--since=7.days']),
    format,
  ];
  const log = await git(repository.top, [...args, '--', `${repository.prefix}${path}`]);
  const versions: Version[] = [];
  for (const part of log.code === 0 ? log.stdout.split('\x01').slice(1) : []) {
    const [commit = '', trailer = '', author, committer, seconds, ...rest] = part.split('\0');
    const cause = trailer.trim() || undefined;
    const blob = /:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) /.exec(rest.join('\0'))?.[1];
    if (!blob || /^0+$/.test(blob)) continue;
    versions.push({blob, commit, cause, byPerson: isEdit(cause, author === committer), at: Number(seconds) * 1_000});
  }
  return versions;
}

/** Commits in `commit..HEAD` with their `Cause` trailer. */
export async function commitsSince(repository: Repository, commit: string): Promise<Map<string, string | undefined>> {
  const format = '--format=%H%x00%(trailers:key=Cause,valueonly,separator=%x2C)';
  const log = await git(repository.top, ['log', format, `${commit}..HEAD`]);
  const lines = log.code === 0 ? log.stdout.split('\n').filter(Boolean) : [];
  return new Map(
    lines.map(line => {
      const [id = '', cause = ''] = line.split('\0');
      return [id, cause.trim() || undefined];
    }),
  );
}

/** The blob id of a path before a commit. Undefined: no file. */
export async function blobBefore({top, prefix}: Repository, commit: string, path: string): Promise<string | undefined> {
  const found = await git(top, ['rev-parse', '--verify', '--quiet', `${commit}^:${prefix}${path}`]);
  return found.code === 0 ? found.stdout.trim() : undefined;
}

/** A version of a file with its commit's author, subject and trailers. */
export interface CommittedVersion {
  blob: string;
  mode: string;
  author: {name: string; email: string};
  subject: string;
  trailers: [key: string, value: string][];
}

/** The last n versions of a file up to a commit, newest first, back to its last removal. */
export async function versionsInGit(
  repository: Repository,
  commit: string,
  path: string,
  n: number,
): Promise<CommittedVersion[]> {
  const format = '--format=%x00%an%x00%ae%x00%s%x00%(trailers:only,unfold)%x00';
  // A merge counts as one version; commits of its side branches do not count.
  const merges = ['--first-parent', '--diff-merges=first-parent'];
  const args = ['log', '-z', '--raw', '--no-abbrev', '--no-renames', ...merges, `--max-count=${n}`, format, commit];
  const log = await git(repository.top, [...args, '--', `${repository.prefix}${path}`]);
  const versions: CommittedVersion[] = [];
  const fields = log.code === 0 ? log.stdout.split('\0') : [];
  // The empty field, the fields of the format, the field that ends it, the modes and blobs, the path.
  for (let i = 0; i + 7 < fields.length; i += 8) {
    const [, name = '', email = '', subject = '', trailers = '', , raw = ''] = fields.slice(i, i + 8);
    const [, mode, , blob] = raw.trim().split(' ');
    if (!mode || !blob || /^0+$/.test(blob)) break;
    versions.push({blob, mode, author: {name, email}, subject, trailers: trailersIn(trailers)});
  }
  return versions;
}

/** Parse git's `%(trailers:only,unfold)`. */
export function trailersIn(text: string): [key: string, value: string][] {
  return text.split('\n').flatMap(line => {
    const at = line.indexOf(': ');
    return at > 0 ? [[line.slice(0, at), line.slice(at + 2)] as [string, string]] : [];
  });
}

async function must({top}: Repository, args: readonly string[]): Promise<string> {
  const done = await git(top, args);
  if (done.code !== 0) throw new Error(`git ${args[0]}: ${done.stderr.trim()}`);
  return done.stdout;
}
