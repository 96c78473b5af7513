import {git} from './git/git.ts';
import {gitFields} from './git/git-fields.ts';
import {trailersIn} from './git/git-history.ts';
import {noRepository} from './git/git-repository.ts';

/** One state change, as the journal has it. */
export interface JournalChange {
  commit: string;
  author: string;
  /** ISO 8601. */
  time: string;
  subject: string;
  /** Agent, Session, Task, Call, Approval, Cause, Model, Tokens: as far as they were given; several of one in order. */
  trailers: [key: string, value: string][];
  paths: string[];
}

/** Only NUL can stand in none of these. An empty field begins a change: no path is empty. */
const FORMAT = '%x00%H%x00%an%x00%aI%x00%s%x00%(trailers:only,unfold)%x00';
/** The empty one, those of the format, and what ends it. */
const FIELDS = 7;

/** Changes of these files or folders of the home reachable from `range`, newest first, read as they are asked for. */
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

/** Undefined: nothing was committed yet. Throws where there is no repository. */
export async function headCommit(home: string): Promise<string | undefined> {
  const found = await git(home, ['rev-parse', '--verify', '--quiet', 'HEAD']);
  if (found.code === 0) return found.stdout.trim();
  const there = await git(home, ['rev-parse', '--git-dir']);
  if (there.code !== 0) throw noRepository(home, there.stderr);
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
    // Git puts an empty line before the first.
    paths: first === undefined ? [] : [first.slice(1), ...others],
  };
}
