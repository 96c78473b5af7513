import {git} from './git/git.ts';
import {Cat} from './git/git-cat.ts';
import {trailersIn} from './git/git-history.ts';
import type {JournalChange} from './history.ts';

/** A file as a commit has it. */
interface PastFile {
  blob: string;
  mode: string;
}

export interface FileOfChange {
  /** Relative to the home. */
  path: string;
  before: PastFile | undefined;
  after: PastFile | undefined;
}

/** One commit with its file changes. */
export interface WholeChange extends JournalChange {
  parents: readonly string[];
  /** Changed files of the home. Empty for a merge. */
  files: readonly FileOfChange[];
  /** Changed paths outside the home. */
  elsewhere: readonly string[];
}

/** Commits in HEAD's history whose ids start with `beginning`, at most ten. */
export async function commitsNamed(home: string, beginning: string): Promise<string[]> {
  const found = await git(home, ['rev-parse', `--disambiguate=${beginning}`]);
  const ids = found.code === 0 ? found.stdout.split('\n').filter(Boolean) : [];
  const commits: string[] = [];
  for (const id of ids) {
    if (commits.length === 10) break;
    // Also skips objects that are not commits.
    if ((await git(home, ['merge-base', '--is-ancestor', id, 'HEAD'])).code === 0) commits.push(id);
  }
  return commits;
}

const FORMAT = '%H%x00%P%x00%an%x00%aI%x00%s%x00%(trailers:only,unfold)';
const RAW = ['--root', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-commit-id'];

/** `commit` must be in HEAD's history. */
export async function readChange(home: string, commit: string): Promise<WholeChange> {
  const [shown, raw, place] = await Promise.all([
    git(home, ['show', '-s', '--no-show-signature', '--encoding=UTF-8', `--format=${FORMAT}`, commit, '--']),
    git(home, ['diff-tree', ...RAW, commit]),
    git(home, ['rev-parse', '--show-prefix']),
  ]);
  if (shown.code !== 0 || raw.code !== 0) throw new Error(`git cannot read ${commit}: ${shown.stderr || raw.stderr}`);
  const [id = '', parents = '', author = '', time = '', subject = '', trailers = ''] = shown.stdout.split('\0');
  const prefix = place.stdout.trimEnd();
  const files: FileOfChange[] = [];
  const elsewhere: string[] = [];
  const fields = raw.stdout.split('\0');
  for (let i = 0; i + 1 < fields.length; i += 2) {
    // `:MODE MODE BLOB BLOB STATUS`
    const [oldMode = '', mode = '', old = '', blob = ''] = (fields[i] ?? '').slice(1).split(' ');
    const path = fields[i + 1] ?? '';
    if (!path.startsWith(prefix)) elsewhere.push(path);
    else files.push({path: path.slice(prefix.length), before: fileOf(oldMode, old), after: fileOf(mode, blob)});
  }
  return {
    ...{commit: id, author, time, subject, trailers: trailersIn(trailers), paths: files.map(({path}) => path)},
    ...{parents: parents.split(' ').filter(Boolean), files, elsewhere},
  };
}

function fileOf(mode: string, blob: string): PastFile | undefined {
  return /^0+$/.test(mode) ? undefined : {mode, blob};
}

/** A version of a file, and the commit that made it. */
export interface LaterVersion {
  commit: string;
  author: string;
  subject: string;
  /** Undefined: removed. */
  blob: string | undefined;
}

/** The versions of a file after a commit, oldest first. */
export async function laterVersions(home: string, commit: string, path: string): Promise<LaterVersion[]> {
  const args = ['log', '-z', '--reverse', '--raw', '--no-abbrev', '--no-renames', '--diff-merges=first-parent'];
  const log = await git(home, [...args, '--format=%x01%H%x00%an%x00%s%x00', `${commit}..HEAD`, '--', path]);
  return log.stdout
    .split('\x01')
    .slice(1)
    .flatMap(part => {
      const [id = '', author = '', subject = '', ...rest] = part.split('\0');
      const blob = /:\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) /.exec(rest.join('\0'));
      return blob ? [{commit: id, author, subject, blob: /^0+$/.test(blob[1] ?? '') ? undefined : blob[2]}] : [];
    });
}

/** Call `use` with a reader of the repository's objects. */
export async function withObjects<T>(
  home: string,
  use: (read: (id: string) => Promise<Buffer | undefined>) => Promise<T>,
): Promise<T> {
  const cat = new Cat(home);
  try {
    return await use(id => cat.body(id));
  } finally {
    cat.close();
  }
}

/** The blob id of a path in HEAD. Undefined: HEAD has no such file. */
export async function blobInHead(home: string, path: string): Promise<string | undefined> {
  const found = await git(home, ['rev-parse', '--verify', '--quiet', `HEAD:./${path}`]);
  return found.code === 0 ? found.stdout.trim() : undefined;
}
