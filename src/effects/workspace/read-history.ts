import {exit, UserError} from '../../formats/common/errors.ts';
import {readHead} from '../../home/git/git-refs.ts';
import type {Leaf} from '../../home/git/git-trees.ts';
import {textOfName} from './byte-folder.ts';
import {type CleanGitResult, cleanGit} from './clean-git.ts';
import {cloneOf} from './clone-record.ts';

export interface WorkspaceCommit {
  commit: string;
  /** First parent; undefined for the first commit. */
  parent: string | undefined;
  merge: boolean;
  author: string;
  time: string;
  subject: string;
  /** Session of the first call. */
  session: string | undefined;
  call: string | undefined;
  /** All calls whose changes are in it; there may be several after a crash. */
  calls: readonly {session: string; call: string}[];
  approval: string | undefined;
  cause: string | undefined;
  /** Part of the cloned history. */
  cloned: boolean;
  undoes: string | undefined;
}

/** A file that differs between two trees; name as in byte-folder.ts. */
export interface TreeChange {
  name: string;
  before: Leaf | undefined;
  after: Leaf | undefined;
}

const FIELDS = ['%H', '%P', '%an', '%aI', '%s', '%(trailers:only,unfold,separator=%x1e)'];
/** Override the settings of a .gitmodules. */
const SUBMODULES_TOO = '--ignore-submodules=none';
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Commits from HEAD, newest first, at most `most`. Empty if there is no commit yet. */
export async function readChanges(gitDir: string, most = Number.POSITIVE_INFINITY): Promise<WorkspaceCommit[]> {
  const limit = most === Number.POSITIVE_INFINITY ? [] : [`--max-count=${most}`];
  const said = await cleanGit(gitDir, [
    'log',
    '-z',
    '--no-notes',
    ...limit,
    `--format=${FIELDS.join('%x00')}`,
    'HEAD',
    '--',
  ]);
  if (said.code !== 0) {
    if (isUnborn(gitDir)) return [];
    throw unreadable('log', said);
  }
  const start = cloneOf(gitDir)?.start;
  const own = start === undefined ? undefined : await idsSince(gitDir, start);
  const fields = said.stdout.toString().split('\0');
  const changes: WorkspaceCommit[] = [];
  for (let i = 0; i + FIELDS.length <= fields.length; i += FIELDS.length) {
    const [commit = '', parents = '', author = '', time = '', subject = '', trailers = ''] = fields.slice(
      i,
      i + FIELDS.length,
    );
    const [parent, other] = parents.split(' ');
    const pairs = trailers.split('\x1e').map(line => ({key: line.split(':')[0], value: line.replace(/^[^:]*: ?/, '')}));
    const said = (name: string) => pairs.find(({key}) => key === name)?.value;
    let session = '';
    const calls: {session: string; call: string}[] = [];
    for (const {key, value} of pairs) {
      if (key === 'Session') session = value;
      else if (key === 'Call') calls.push({session, call: value});
    }
    changes.push({
      ...{commit, parent: parent || undefined, merge: other !== undefined, author, time, subject},
      session: said('Session'),
      call: said('Call'),
      calls,
      approval: said('Approval'),
      cause: said('Cause'),
      cloned: own !== undefined && !own.has(commit),
      undoes: said('Undoes'),
    });
  }
  return changes;
}

/** Whether the commit contains changes by this agent's calls in this workspace. */
export function isOfAgent({author, calls, cloned}: WorkspaceCommit, agent: string): boolean {
  return calls.length > 0 && author === agent && !cloned;
}

/** Undefined: a person has removed the start commit. */
async function idsSince(gitDir: string, start: string): Promise<Set<string> | undefined> {
  const said = await cleanGit(gitDir, ['rev-list', 'HEAD', `^${start}`, '--']);
  return said.code === 0 ? new Set(said.stdout.toString().split('\n')) : undefined;
}

export async function countChanges(gitDir: string): Promise<number> {
  const said = await cleanGit(gitDir, ['rev-list', '--count', 'HEAD', '--']);
  if (said.code !== 0 && !isUnborn(gitDir)) throw unreadable('rev-list', said);
  return Number(said.stdout);
}

/** Undone commits, unless the undo itself was undone. */
export function undoneOf(changes: readonly WorkspaceCommit[]): Set<string> {
  const undone = new Set<string>();
  for (const {commit, undoes} of changes) if (undoes !== undefined && !undone.has(commit)) undone.add(undoes);
  return undone;
}

export function filesBetween(gitDir: string, from: string, to: string): Promise<TreeChange[]> {
  return rawDiff(gitDir, ['diff-tree', '-r', from, to]);
}

/** Compare a commit or tree with the index. */
export function filesStaged(gitDir: string, from: string): Promise<TreeChange[]> {
  return rawDiff(gitDir, ['diff-index', '--cached', '--ita-invisible-in-index', '--diff-filter=AMDT', from]);
}

async function rawDiff(gitDir: string, [command = '', ...args]: readonly string[]): Promise<TreeChange[]> {
  const options = ['-z', '--raw', '--no-renames', '--no-abbrev', SUBMODULES_TOO];
  const said = await cleanGit(gitDir, [command, ...options, ...args, '--']);
  if (said.code !== 0) throw unreadable(command, said);
  const fields = said.stdout.toString('latin1').split('\0');
  const files: TreeChange[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [, oldMode = '', mode = '', oldId = '', id = ''] = /^:(\d+) (\d+) (\w+) (\w+) /.exec(fields[i] ?? '') ?? [];
    files.push({name: fields[i + 1] ?? '', before: leaf(oldMode, oldId), after: leaf(mode, id)});
  }
  return files;
}

/** Diff for people. Runs no program that a file or setting names, and no attribute hides anything. */
export async function diffText(gitDir: string, from: string, to: string): Promise<string> {
  const options = ['-r', '-p', '--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--no-relative'];
  const prefixes = ['--src-prefix=a/', '--dst-prefix=b/'];
  const said = await cleanGit(gitDir, ['diff-tree', ...options, ...prefixes, SUBMODULES_TOO, from, to, '--']);
  if (said.code !== 0) throw unreadable('diff-tree', said);
  return textOfName(said.stdout.toString('latin1'));
}

function isUnborn(gitDir: string): boolean {
  const head = readHead({own: gitDir, common: gitDir});
  return 'commit' in head && head.commit === undefined;
}

/** An object is missing or damaged. */
function unreadable(command: string, {stderr}: CleanGitResult): UserError {
  const lines = stderr.trim().split('\n');
  const why = lines.find(line => /^(?:fatal|error):/.test(line)) ?? lines[0];
  return new UserError(
    `the history of the workspace cannot be read: git ${command}: ${why}`,
    exit.failed,
    'what is missing: git fsck, in the workspace',
  );
}

function leaf(mode: string, id: string): Leaf | undefined {
  return /^0+$/.test(mode) ? undefined : {id, mode};
}
