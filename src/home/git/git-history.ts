import {isJournalled, kindOf} from '../../formats/common/key.ts';
import {git} from './git.ts';
import {type Head, readHead} from './git-refs.ts';
import type {Repository} from './git-repository.ts';
import type {Leaf} from './git-trees.ts';

export const EXECUTABLE = '100755';

export interface Version {
  blob: string;
  commit: string;
  /** The trailer `Cause`; undefined for a commit of the person's own. */
  cause: string | undefined;
  /** An edit of the person's, recorded by itself. Not their own commit: that may hold what others wrote, too. */
  byPerson: boolean;
  /** When it was committed: milliseconds since 1970, of which git keeps the seconds. */
  at: number;
}

/** Whether what the journal recorded is a person's edit: what they saved while no daemon ran has the cause of a recovery. */
export function isEdit(cause: string | undefined, isTheirs: boolean): boolean {
  return cause === 'edit' || (cause === 'recovered' && isTheirs);
}

/** A path of the repository as one of the home; undefined if it is none of our business. */
export function homePath({prefix}: Repository, path: string): string | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const inner = path.slice(prefix.length);
  const kind = kindOf(inner);
  return kind && isJournalled(kind) ? inner : undefined;
}

/** Files of the home in a commit. */
export interface Files {
  /** Blob of each. */
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

/** What differs for the home between two commits: what is there now, undefined where it is removed. */
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

/** Where branches are not files, git writes this into HEAD for those who would look there. */
const NO_FILES = 'refs/heads/.invalid';

export async function resolveHead(repository: Repository): Promise<Head> {
  const head = readHead(repository.dirs);
  return 'commit' in head && head.branch !== NO_FILES ? head : headByGit(repository);
}

/** By git itself: for repositories whose files we cannot read. */
async function headByGit({top}: Repository): Promise<Head> {
  const [branch, commit] = await Promise.all([
    git(top, ['symbolic-ref', '-q', 'HEAD']),
    git(top, ['rev-parse', '-q', '--verify', 'HEAD^{commit}']),
  ]);
  return {branch: branch.stdout.trim() || undefined, commit: commit.stdout.trim() || undefined};
}

/** Newest first: what a file was in the last 7 days, or since ever, at most n. */
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

/** Commits that HEAD has and this one has not, with their trailer `Cause`. */
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

/** The blob that a path was before a commit; undefined: it was not there. */
export async function blobBefore({top, prefix}: Repository, commit: string, path: string): Promise<string | undefined> {
  const found = await git(top, ['rev-parse', '--verify', '--quiet', `${commit}^:${prefix}${path}`]);
  return found.code === 0 ? found.stdout.trim() : undefined;
}

/** A version as its commit had it. */
export interface CommittedVersion {
  blob: string;
  mode: string;
  author: {name: string; email: string};
  subject: string;
  trailers: [key: string, value: string][];
}

/** Newest first: what a file was up to a commit, at most n, none from before it was removed last. */
export async function versionsInGit(
  repository: Repository,
  commit: string,
  path: string,
  n: number,
): Promise<CommittedVersion[]> {
  const format = '--format=%x00%an%x00%ae%x00%s%x00%(trailers:only,unfold)%x00';
  // What a merge brought is the merge's: its side branches are no versions of this one.
  const merges = ['--first-parent', '--diff-merges=first-parent'];
  const args = ['log', '-z', '--raw', '--no-abbrev', '--no-renames', ...merges, `--max-count=${n}`, format, commit];
  const log = await git(repository.top, [...args, '--', `${repository.prefix}${path}`]);
  const versions: CommittedVersion[] = [];
  const fields = log.code === 0 ? log.stdout.split('\0') : [];
  // The empty one, those of the format, what ends it, the modes and blobs, the path.
  for (let i = 0; i + 7 < fields.length; i += 8) {
    const [, name = '', email = '', subject = '', trailers = '', , raw = ''] = fields.slice(i, i + 8);
    const [, mode, , blob] = raw.trim().split(' ');
    if (!mode || !blob || /^0+$/.test(blob)) break;
    versions.push({blob, mode, author: {name, email}, subject, trailers: trailersIn(trailers)});
  }
  return versions;
}

/** Of the text that git gives for `%(trailers:only,unfold)`. */
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
