import {readFileSync} from 'node:fs';
import {resolve} from 'node:path';
import {kindOf} from '../formats/common/key.ts';
import {git} from './git/git.ts';
import {Cat} from './git/git-cat.ts';
import {gitFields} from './git/git-fields.ts';
import {headCommit} from './history.ts';

/** A file of the home that a commit changed. */
export interface WalkedChange {
  path: string;
  mode: string;
  /** Undefined: removed. Resolves to undefined if the repository lacks the object; rejects if git fails. */
  body: (() => Promise<Buffer | undefined>) | undefined;
}

export interface WalkedCommit {
  id: string;
  parents: readonly string[];
  author: {name: string; email: string};
  /** ISO 8601. */
  time: string;
  /** The trailer `Cause`. */
  cause: string;
  /** Whether it has several state changes of one step, perhaps by an agent and the daemon: see `joined`. */
  joined: boolean;
  /** For a merge, against its first parent. */
  changes: readonly WalkedChange[];
  /** The boundary of a shallow clone: the changes include everything from before. */
  cutOff: boolean;
}

export interface JournalWalk {
  /** How many commits there are. */
  total: number;
  /** The number of children of each commit. */
  children: ReadonlyMap<string, number>;
  shallow: boolean;
  /** Topological order: parents first. */
  commits: () => AsyncGenerator<WalkedCommit>;
  /** A file of the home as a commit had it. */
  fileAt: (commit: string, path: string) => Promise<Buffer | undefined>;
  close: () => void;
}

/** Whether a commit is the daemon's, or changes files of the home only: the home may share the repository of a project. */
export function isCommitOfHome({cause, changes}: Pick<WalkedCommit, 'cause' | 'changes'>): boolean {
  const isHomeFile = ({path}: WalkedChange) =>
    kindOf(path) !== undefined || path === '.gitignore' || path.startsWith('schemas/');
  return cause !== '' || (changes.length > 0 && changes.every(isHomeFile));
}

/** How many commits are read ahead, with their wanted files. */
const AHEAD = 64;

/** Walk HEAD's history once, oldest first. `wants` selects the paths whose content to read ahead. Throws without a repository. */
export async function walkJournal(home: string, wants: (path: string) => boolean): Promise<JournalWalk> {
  const head = await headCommit(home);
  const [place, parents] = await Promise.all([
    git(home, ['rev-parse', '--is-shallow-repository', '--git-path', 'shallow', '--show-prefix']),
    head ? git(home, ['--no-replace-objects', 'rev-list', '--parents', head]) : undefined,
  ]);
  const [isShallow, shallow = '', prefix = ''] = place.stdout.split('\n');
  const cut = new Set(
    isShallow === 'true' ? readFileSync(resolve(home, shallow), 'utf8').split('\n').filter(Boolean) : [],
  );
  const children = new Map<string, number>();
  let total = 0;
  for (const line of parents?.stdout.split('\n').filter(Boolean) ?? []) {
    total++;
    for (const parent of line.split(' ').slice(1)) children.set(parent, (children.get(parent) ?? 0) + 1);
  }
  const cat = new Cat(home);
  return {
    total,
    children,
    shallow: cut.size > 0,
    commits: () => readAhead(head ? read(home, head, cut) : nothing(), cat, wants),
    fileAt: (commit, path) =>
      path.includes('\n') ? Promise.resolve(undefined) : cat.body(`${commit}:${prefix}${path}`),
    close: () => cat.close(),
  };
}

/** All paths below a folder of the home that ever existed in HEAD's history. */
export async function pathsEver(home: string, folder: string): Promise<string[]> {
  if (!(await headCommit(home))) return [];
  const args = ['log', '--format=', '--name-only', '-z', '--relative', '--no-renames', 'HEAD', '--', folder];
  const listed = await git(home, args);
  return [...new Set(listed.stdout.split('\0').map(path => path.trim()))].filter(Boolean);
}

/** The text of a changed file. `text` undefined: the commit removed it. Must not throw. */
export async function walkedText({mode, body}: WalkedChange): Promise<{text: string | undefined} | {problem: string}> {
  if (!body) return {text: undefined};
  if (mode === '120000') return {problem: 'it is a symbolic link; the journal does not have its target'};
  try {
    const bytes = await body();
    return bytes ? {text: bytes.toString('utf8')} : {problem: 'the repository lacks it; run git fsck'};
  } catch (error) {
    return {problem: (error as Error).message};
  }
}

interface RawChange {
  path: string;
  mode: string;
  blob: string | undefined;
}
type RawCommit = Omit<WalkedCommit, 'changes'> & {changes: RawChange[]};

/** Request wanted files from git long before they are used. */
async function* readAhead(
  commits: AsyncGenerator<RawCommit>,
  cat: Cat,
  wants: (path: string) => boolean,
): AsyncGenerator<WalkedCommit> {
  const waiting: WalkedCommit[] = [];
  for await (const commit of commits) {
    const changes = commit.changes.map(({path, mode, blob}): WalkedChange => {
      if (blob === undefined) return {path, mode, body: undefined};
      const requested = wants(path) ? cat.body(blob) : undefined;
      // The caller of `body` handles the error.
      requested?.catch(() => {});
      return {path, mode, body: () => requested ?? cat.body(blob)};
    });
    waiting.push({...commit, changes});
    if (waiting.length > AHEAD) yield waiting.shift() as WalkedCommit;
  }
  yield* waiting;
}

async function* nothing(): AsyncGenerator<RawCommit> {}

/** No field can contain a NUL. */
const FORMAT =
  '%x00%H%x00%P%x00%an%x00%ae%x00%aI%x00%(trailers:key=Cause,valueonly,separator=%x20)%x1f%(trailers:key=Step,valueonly,separator=%x20)%x00';
/** The empty field that begins a commit, the fields of the format, and the empty field that ends it. */
const FIELDS = 8;

const LOG = [
  ...[
    '-c',
    'log.showRoot=true',
    '--no-replace-objects',
    'log',
    '--reverse',
    '--topo-order',
    '-z',
    '--raw',
    '--no-abbrev',
  ],
  ...['--no-renames', '--relative', '--diff-merges=first-parent', '--no-color', '--no-decorate', '--no-show-signature'],
  ...['--no-notes', '--encoding=UTF-8', `--format=${FORMAT}`],
];

async function* read(home: string, head: string, cut: ReadonlySet<string>): AsyncGenerator<RawCommit> {
  const failed = 'git log could not read the whole history; run git fsck';
  let record: string[] = [];
  for await (const fields of gitFields(home, [...LOG, head, '--'], failed))
    for (const field of fields) {
      if (field === '' && record.length >= FIELDS && record.length % 2 === 0) {
        yield parse(record, cut);
        record = [];
      }
      record.push(field);
    }
  if (record.length >= FIELDS - 1) yield parse(record, cut);
}

function parse(record: readonly string[], cut: ReadonlySet<string>): RawCommit {
  const [, id = '', parents = '', name = '', email = '', time = '', trailers = ''] = record;
  const [cause = '', steps = ''] = trailers.split('\x1f');
  const changes: RawChange[] = [];
  for (let at = FIELDS; at + 1 < record.length; at += 2) {
    // `:MODE MODE BLOB BLOB STATUS`, the first after an empty line.
    const [, mode = '', , blob = ''] = (record[at] ?? '').trimStart().split(' ');
    const gone = /^0+$/.test(mode) || /^0+$/.test(blob);
    changes.push({path: record[at + 1] ?? '', mode, blob: gone ? undefined : blob});
  }
  const cutOff = cut.has(id);
  return {
    id,
    parents: parents.split(' ').filter(Boolean),
    author: {name, email},
    time,
    cause,
    joined: steps !== '',
    changes,
    cutOff,
  };
}
