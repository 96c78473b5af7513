import {git} from './git.ts';
import {homePath} from './git-history.ts';
import {plainCommits} from './git-refs.ts';
import type {Repository} from './git-repository.ts';

/** So many commits are looked at. */
const MAX_COMMITS = 1_000;
const NONE = /^0+$/;

export interface RecentCommit {
  id: string;
  /** Without a trailer of ours: the person made it with git. */
  byPerson: boolean;
  subject: string;
  /** Files of the home that it changed, and their blobs before and after it; zeros: no file. */
  files: {path: string; was: string; is: string}[];
}

/**
 * Files whose last commits are a person's own (`git commit`, by which HEAD moved to no older text), with the blob that they had
 * before those. Not files that were never in any other commit. `since`: a commit that is not looked behind.
 */
export async function committedOver(repository: Repository, since: string | undefined): Promise<Map<string, string>> {
  const commits =
    (since && (await commitsIn(repository, `${since}..HEAD`))) || (await commitsIn(repository, 'HEAD')) || [];
  const own = commits.filter(({byPerson}) => byPerson).map(({id}) => id);
  const plain = plainCommits(repository.dirs, new Set(own));
  const over = new Map<string, string>();
  const done = new Set<string>();
  for (const {id, files} of commits)
    for (const {path, was} of files) {
      if (done.has(path)) continue;
      const isNew = NONE.test(was);
      if (!plain.has(id) || isNew) done.add(path);
      else over.set(path, was);
      if (plain.has(id) && isNew) over.delete(path);
    }
  return over;
}

/** Commits of a range, newest first; undefined if git does not know the range. */
export async function commitsIn(repository: Repository, range: string): Promise<RecentCommit[] | undefined> {
  const format = '--format=%x01%H%x00%(trailers:key=Cause,valueonly)%x00%s%x00';
  const args = ['log', '-z', '--raw', '--no-abbrev', '--no-renames', `--max-count=${MAX_COMMITS}`, format, range];
  const log = await git(repository.top, [...args, '--', ...(repository.prefix ? [repository.prefix] : [])]);
  if (log.code !== 0) return undefined;
  return log.stdout
    .split('\x01')
    .slice(1)
    .map(part => {
      const [id = '', cause = '', subject = '', ...rest] = part.split('\0');
      return {id, byPerson: cause.trim() === '', subject, files: filesIn(repository, rest)};
    });
}

/** Of `:MODE MODE BLOB BLOB STATUS`, then the path, and so on. */
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
