import type {BigIntStats} from 'node:fs';
import {join} from 'node:path';
import {nodeDisk} from '../../home/disk/disk.ts';
import {waitForLock} from '../../home/disk/lock.ts';
import {Cat} from '../../home/git/git-cat.ts';
import type {Person} from '../../home/git/git-config.ts';
import {clearStaleGitLocks, type Workplace, workplace} from '../../home/git/git-locks.ts';
import {Objects} from '../../home/git/git-objects.ts';
import {GitProcesses} from '../../home/git/git-processes.ts';
import type {GitDirs} from '../../home/git/git-refs.ts';
import {mustRead} from '../../home/git/git-repository.ts';
import {emptyTree, loadTree, type Tree} from '../../home/git/git-trees.ts';
import {cleanEnvironment, cleanGit, cleanOptions} from './clean-git.ts';
import type {FoundFile} from './findings.ts';
import {gitDirOf, keepInfo} from './git-dir.ts';
import {type IndexState, readIndex} from './index-state.ts';
import {maintainHistory} from './maintain.ts';

/** The open history of a workspace. Everything in memory is a cache of the git-dir. */
export interface History {
  home: string;
  agent: string;
  gitDir: string;
  dirs: GitDirs;
  objects: Objects;
  cat: Cat;
  processes: GitProcesses;
  place: Workplace;
  index: IndexState | undefined;
  /** Tree of `commit`, as far as loaded. */
  root: Tree | undefined;
  commit: string | undefined;
  /** See `ScanContext.proven` in findings.ts. */
  proven: Map<string, {id: string; stat: BigIntStats}>;
  /** See staged-files.ts. */
  staged: StagedState | undefined;
  /** Notes that were reported and still apply. */
  reported: Set<string>;
  isLocked: boolean;
}

/** Staged differences between an index and a commit. */
export interface StagedState {
  stat: BigIntStats | undefined;
  commit: string | undefined;
  files: readonly FoundFile[];
}

/** A commit to be created. */
export interface HistoryEntry {
  author: Person;
  committer: Person;
  subject: string;
  trailers: readonly (readonly [string, string])[];
}

const histories = new Map<string, History>();
const keyOf = ({home, agent}: {home: string; agent: string}) => `${home}\0${agent}`;

export function isHistoryOpen(workspace: {home: string; agent: string}): boolean {
  return histories.has(keyOf(workspace));
}

/** Call this when the git-dir is gone. */
export function forgetHistory(workspace: {home: string; agent: string}): void {
  histories.get(keyOf(workspace))?.cat.close();
  histories.delete(keyOf(workspace));
}

/** Open the history on first use and remove stale locks of dead processes. The git-dir must exist. */
export function workspaceHistory({home, agent}: {home: string; agent: string}): History {
  const known = histories.get(keyOf({home, agent}));
  if (known) return known;
  const gitDir = gitDirOf(home, agent);
  const dirs = {own: gitDir, common: gitDir};
  clearStaleGitLocks(dirs);
  keepInfo(gitDir);
  const history: History = {
    home,
    agent,
    gitDir,
    dirs,
    objects: new Objects(`${gitDir}/objects`, 'sha1'),
    cat: new Cat(gitDir, {options: cleanOptions, environment: cleanEnvironment}),
    processes: new GitProcesses(dirs, join(home, 'workspaces', agent)),
    place: workplace(dirs),
    index: undefined,
    root: undefined,
    commit: undefined,
    proven: new Map(),
    staged: undefined,
    reported: new Set(),
    isLocked: false,
  };
  histories.set(keyOf({home, agent}), history);
  maintainHistory(history);
  return history;
}

const PATIENCE_MS = 10_000;

/** Run `work` under the lock for changing files and history together, which orders our processes. Throws on timeout. */
export async function locked<T>(
  of: {home: string; agent: string; isLocked?: boolean},
  work: () => Promise<T>,
): Promise<T> {
  if (of.isLocked) return work();
  const lock = await waitForLock(nodeDisk(of.home), `.agentdir/locks/workspace-${of.agent}.lock`, PATIENCE_MS);
  if ('heldBy' in lock) throw new Error(`process ${lock.heldBy.pid} is at work in the workspace of ${of.agent}`);
  of.isLocked = true;
  try {
    return await work();
  } finally {
    of.isLocked = false;
    lock.release();
  }
}

/** Read the index. If a person's git wrote an unsupported format, git converts it, or rebuilds it from HEAD. */
export async function readWorkspaceIndex(history: History): Promise<IndexState> {
  const {gitDir} = history;
  for (const mend of [
    ['update-index', '--index-version', '2', '--no-split-index', '--no-untracked-cache', '--no-fsmonitor'],
    ['read-tree', 'HEAD'],
    ['read-tree', '--empty'],
    undefined,
  ]) {
    const read = readIndex(gitDir, history.index);
    if (!('unsupported' in read)) {
      history.index = read;
      return read;
    }
    if (mend) await cleanGit(gitDir, mend);
    else throw new Error(`the index of the workspace cannot be read: ${read.unsupported}`);
  }
  throw new Error('unreachable');
}

/** Tree of a commit, or an empty tree. Reuses unchanged parts of the last tree. */
export async function treeAt(history: History, commit: string | undefined): Promise<Tree> {
  if (commit === undefined) return emptyTree();
  if (history.root && history.commit === commit) return history.root;
  const store = {load: (id: string) => mustRead(history, id), write: () => ''};
  const id = (await mustRead(history, commit)).toString('latin1', 5, 45);
  history.root = await loadTree(store, id, history.root);
  history.commit = commit;
  return history.root;
}
