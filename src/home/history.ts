import {git} from './git/git.ts';
import {gitFields} from './git/git-fields.ts';
import {trailersIn} from './git/git-history.ts';
import {noRepository} from './git/git-repository.ts';

/** One commit of the journal. */
export interface JournalChange {
  commit: string;
  author: string;
  /** ISO 8601. */
  time: string;
  subject: string;
  /** Any of Agent, Session, Task, Call, Approval, Cause, Model and Tokens, in order. A key may repeat. */
  trailers: [key: string, value: string][];
  paths: string[];
}

/** No field can contain a NUL. An empty field begins a commit: no path is empty. */
const FORMAT = '%x00%H%x00%an%x00%aI%x00%s%x00%(trailers:only,unfold)%x00';
/** The empty field, the fields of the format, and the field that ends it. */
const FIELDS = 7;

/** Commits in `range` that changed these files or folders of the home, newest first. Read lazily. */
export async function* history(
  home: string,
  range: readonly string[] = ['HEAD'],
  of: readonly string[] = ['.'],
): AsyncGenerator<JournalChange> {
  const args = [
    'log',
    '--no-color',
    '--no-decorate',
    '-z',
    '--name-only',
    '--relative',
    '--full-diff',
    `--format=${FORMAT}`,
    ...range,
    '--',
    ...of,
  ];
  let record: string[] = [];
  for await (const fields of gitFields(home, args))
    for (const field of fields) {
      if (field === '' && record.length >= FIELDS) {
        yield parse(record);
        record = [];
      }
      record.push(field);
    }
  if (record.length >= FIELDS) yield parse(record);
}

/** Undefined: no commit yet. Throws without a repository. */
export async function headCommit(home: string): Promise<string | undefined> {
  const found = await git(home, ['rev-parse', '--verify', '--quiet', 'HEAD']);
  if (found.code === 0) return found.stdout.trim();
  const repository = await git(home, ['rev-parse', '--git-dir']);
  if (repository.code !== 0) throw noRepository(home, repository.stderr);
  return undefined;
}

function parse(record: readonly string[]): JournalChange {
  const [, commit = '', author = '', time = '', subject = '', trailers = '', , first, ...others] = record;
  return {
    commit,
    author,
    time,
    subject,
    trailers: trailersIn(trailers),
    // Git prints a newline before the first path.
    paths: first === undefined ? [] : [first.slice(1), ...others],
  };
}
