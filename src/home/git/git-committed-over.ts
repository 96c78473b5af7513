import {git} from './git.ts';
import {homePath} from './git-history.ts';
import {plainCommits} from './git-refs.ts';
import type {Repository} from './git-repository.ts';

/** How many commits are read if no earlier commit is known. */
const MAX_COMMITS = 1_000;
const NONE = /^0+$/;

export interface RecentCommit {
  id: string;
  /** The person made it with git: it has no `Cause` trailer. */
  byPerson: boolean;
  subject: string;
  /** The subjects of further state changes in it: see `joined`. */
  steps: string[];
  /** Changed files of the home, with their blob ids before and after. Zeros: no file. */
  files: {path: string; was: string; is: string}[];
}

/**
 * Files whose last commits a person made with `git commit`, with the blob id before those commits. Leaves out files that were never in
 * any other commit. `since`: only read commits after this one.
 */
export async function committedOver(repository: Repository, since: string | undefined): Promise<Map<string, string>> {
  const commits =
    (since && (await commitsIn(repository, `${since}..HEAD`))) ||
    (await commitsIn(repository, 'HEAD', MAX_COMMITS)) ||
    [];
  const byPerson = commits.filter(commit => commit.byPerson).map(({id}) => id);
  const plain = plainCommits(repository.dirs, new Set(byPerson));
  const overwritten = new Map<string, string>();
  const done = new Set<string>();
  for (const {id, files} of commits)
    for (const {path, was} of files) {
      if (done.has(path)) continue;
      const isNew = NONE.test(was);
      if (!plain.has(id) || isNew) done.add(path);
      else overwritten.set(path, was);
      if (plain.has(id) && isNew) overwritten.delete(path);
    }
  return overwritten;
}

/** The commits of a range, newest first, at most so many. Undefined if git does not know the range. */
export async function commitsIn(
  repository: Repository,
  range: string,
  most?: number,
): Promise<RecentCommit[] | undefined> {
  const format = '--format=%x01%H%x00%(trailers:key=Cause,valueonly)%x00%(trailers:key=Step,valueonly)%x00%s%x00';
  const count = most === undefined ? [] : [`--max-count=${most}`];
  const args = ['log', '-z', '--raw', '--no-abbrev', '--no-renames', ...count, format, range];
  const log = await git(repository.top, [...args, '--', ...(repository.prefix ? [repository.prefix] : [])]);
  if (log.code !== 0) return undefined;
  return log.stdout
    .split('\x01')
    .slice(1)
    .map(part => {
      const [id = '', cause = '', steps = '', subject = '', ...rest] = part.split('\0');
      const files = filesIn(repository, rest);
      return {id, byPerson: cause.trim() === '', subject, steps: steps.split('\n').filter(Boolean), files};
    });
}

/** Parse pairs of `:MODE MODE BLOB BLOB STATUS` and a path. */
function filesIn(repository: Repository, fields: readonly string[]): RecentCommit['files'] {
  const files: RecentCommit['files'] = [];
  for (let i = 0; i + 1 < fields.length; i++) {
    const [, was, is] = /^\s*:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) /.exec(fields[i] as string) ?? [];
    if (was === undefined || is === undefined) continue;
    const path = homePath(repository, fields[++i] as string);
    if (path !== undefined) files.push({path, was, is});
  }
  return files;
}
