import {isJournalled, kindOf} from '../files/key.ts';
import {git} from './git.ts';
import type {Head} from './git-refs.ts';
import type {Repository} from './git-repository.ts';

export interface Version {
  blob: string;
  commit: string;
  /** The trailer `Cause`; undefined for a commit of the person's own. */
  cause: string | undefined;
}

/** A path of the repository as one of the home; undefined if it is none of our business. */
export function homePath({prefix}: Repository, path: string): string | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const inner = path.slice(prefix.length);
  const kind = kindOf(inner);
  return kind && isJournalled(kind) ? inner : undefined;
}

/** Blob of each file of the home in a commit. */
export async function filesOf(repository: Repository, commit: string | undefined): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  if (!commit) return files;
  const below = repository.prefix ? ['--', repository.prefix] : [];
  const listed = await must(repository, ['ls-tree', '-r', '-z', '--full-tree', commit, ...below]);
  for (const line of listed.split('\0')) {
    const tab = line.indexOf('\t');
    const path = homePath(repository, line.slice(tab + 1));
    const [, type, id] = line.slice(0, tab).split(' ');
    if (path !== undefined && type === 'blob' && id) files.set(path, id);
  }
  return files;
}

/** What differs for the home between two commits: the blob now, undefined where it is removed. */
export async function changedFiles(
  repository: Repository,
  from: string,
  to: string,
): Promise<Map<string, string | undefined>> {
  const below = repository.prefix ? ['--', repository.prefix] : [];
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to, ...below];
  const changed = new Map<string, string | undefined>();
  const fields = (await must(repository, args)).split('\0');
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const path = homePath(repository, fields[i + 1] ?? '');
    const [, mode = '', , id = ''] = (fields[i] ?? '').split(' ');
    if (path !== undefined) changed.set(path, /^0+$/.test(mode) || /^0+$/.test(id) ? undefined : id);
  }
  return changed;
}

/** HEAD, by git itself: for repositories whose files we cannot read. */
export async function headByGit({top}: Repository): Promise<Head> {
  const [branch, commit] = await Promise.all([
    git(top, ['symbolic-ref', '-q', 'HEAD']),
    git(top, ['rev-parse', '-q', '--verify', 'HEAD^{commit}']),
  ]);
  return {branch: branch.stdout.trim() || undefined, commit: commit.stdout.trim() || undefined};
}

/** Newest first: what a file was in the last 7 days, at most n. */
export async function recentVersions(repository: Repository, path: string, n: number): Promise<Version[]> {
  const format = '--format=%x01%H%x00%(trailers:key=Cause,valueonly)%x00';
  const args = ['log', '-z', '--raw', '--no-abbrev', '--no-renames', `--max-count=${n}`, '--since=7.days', format];
  const log = await git(repository.top, [...args, '--', `${repository.prefix}${path}`]);
  const versions: Version[] = [];
  for (const part of log.code === 0 ? log.stdout.split('\x01').slice(1) : []) {
    const [commit = '', cause = '', ...rest] = part.split('\0');
    const blob = /:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) /.exec(rest.join('\0'))?.[1];
    if (blob && !/^0+$/.test(blob)) versions.push({blob, commit, cause: cause.trim() || undefined});
  }
  return versions;
}

async function must({top}: Repository, args: readonly string[]): Promise<string> {
  const done = await git(top, args);
  if (done.code !== 0) throw new Error(`git ${args[0]}: ${done.stderr.trim()}`);
  return done.stdout;
}
