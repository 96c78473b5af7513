import {setTimeout as sleep} from 'node:timers/promises';
import {unfinishedOperation} from '../../home/git/git-busy.ts';
import {commitBody, personText} from '../../home/git/git-commit.ts';
import type {IndexChange} from '../../home/git/git-index.ts';
import {clearStaleGitLocks, release} from '../../home/git/git-locks.ts';
import {moveHead} from '../../home/git/git-move-head.ts';
import {type Head, readHead} from '../../home/git/git-refs.ts';
import {mustRead} from '../../home/git/git-repository.ts';
import {StagedObjects} from '../../home/git/git-staged.ts';
import {isLoaded, leafAt, loadPath, setLeaf, type Tree, type TreeStore, writeTrees} from '../../home/git/git-trees.ts';
import type {FoundFile, WorkspaceFindings} from './findings.ts';
import {findFiles} from './found-files.ts';
import {type History, type HistoryEntry, locked, readWorkspaceIndex, treeAt} from './history.ts';
import {blobIn, type IndexState, isCurrent, modeIn, placeIn, writeIndex} from './index-state.ts';
import {keepPermissions} from './permissions.ts';
import {adoptStaged, stagedFiles} from './staged-files.ts';

/** How long to wait for a person's git command or another lock. */
const PATIENCE_MS = 3_000;
const MOST_MOVES = 20;
const MOST_HELD = 16 * 1024 * 1024;

export interface CommitOutcome {
  /** Undefined: nothing differed, or the commit has to wait. */
  commit?: string;
  /** Why the commit has to wait; the changes stay uncommitted. */
  waits?: string;
  leftOut: readonly string[];
}

/**
 * Commit what differs in the workspace on top of HEAD. Never overrides a person's concurrent git command: if the branch
 * moved since the commit was prepared, prepares it again.
 */
export function commitFiles(
  history: History,
  entryFor: EntryFor,
  paths?: readonly string[],
  /** Changes that no file shows: added and removed submodules. */
  also: readonly FoundFile[] = [],
): Promise<CommitOutcome> {
  return commitFound(history, entryFor, async state => {
    const found = await findFiles({...history, state}, paths);
    if (also.length === 0) return found;
    const changed = new Map([...found.changed, ...also].map(file => [file.name, file]));
    return {...found, changed: [...changed.values()]};
  });
}

/** Commit what is staged, as it was staged, whatever the files contain now. */
export function commitStaged(history: History, entryFor: EntryFor, paths?: readonly string[]): Promise<CommitOutcome> {
  return commitFound(history, entryFor, async () => ({
    changed: [...(await stagedFiles(history, paths))],
    same: [],
    leftOut: [],
  }));
}

export type EntryFor = (found: WorkspaceFindings) => HistoryEntry | Promise<HistoryEntry>;

async function commitFound(
  history: History,
  entryFor: EntryFor,
  find: (state: IndexState) => Promise<WorkspaceFindings>,
): Promise<CommitOutcome> {
  const end = performance.now() + PATIENCE_MS;
  let leftOut: readonly string[] = [];
  for (let pause = 5, moves = 0; ; pause = Math.min(pause * 2, 100)) {
    const state = await readWorkspaceIndex(history);
    const found = await find(state);
    leftOut = found.leftOut;
    keepPermissions(history.gitDir, [...found.changed, ...found.same]);
    for (const {name, content} of found.same)
      if (content?.stat) history.proven.set(name, {id: content.id, stat: content.stat});
    if (found.changed.length === 0) return {leftOut};
    const entry = await entryFor(found);
    const outcome = await locked(history, () => tryCommit(history, state, found, entry));
    if ('nothing' in outcome) return {leftOut};
    if ('commit' in outcome) return {commit: outcome.commit, leftOut};
    if ('moved' in outcome && ++moves < MOST_MOVES) continue;
    // A merge or rebase takes as long as the person needs.
    if (performance.now() > end || 'moved' in outcome || unfinishedOperation(history.dirs))
      return {waits: 'waits' in outcome ? outcome.waits : 'HEAD of the workspace does not hold still', leftOut};
    // The lock may belong to a dead process of ours, and another process may have pruned objects.
    clearStaleGitLocks(history.dirs);
    history.objects.forget();
    await sleep(pause);
  }
}

type Tried = {commit: string} | {nothing: true} | {moved: true} | {waits: string};

async function tryCommit(
  history: History,
  state: IndexState,
  found: WorkspaceFindings,
  entry: HistoryEntry,
): Promise<Tried> {
  // The findings count only if nobody committed meanwhile.
  if (!isCurrent(state)) return {moved: true};
  const head = readHead(history.dirs);
  if ('unsupported' in head) return {waits: head.unsupported};
  if (state.index.unmerged) return {waits: 'a merge in the workspace is not finished (unmerged paths)'};
  const before = (await treeAt(history, head.commit)).id;
  const {tree, staged} = await treeWith(history, head, found.changed);
  // Only what a person staged differs; the person decides whether to commit it.
  if (tree.id === before) return {nothing: true};
  const body = commitBody({...entry, tree: tree.id, parent: head.commit, time: Date.now()});
  const tip = staged.write('commit', body);
  await staged.flush();
  const {place} = history;
  const changes = [...found.changed.filter(file => !isStaged(state, file)), ...found.same].map(indexChange);
  try {
    writeIndex(state, place.index, changes);
    const moved = moveHead({
      repository: history,
      index: {isCurrent: () => isCurrent(state), isForeignSince: () => false},
      place,
      head,
      tip,
      adopt: () => adoptStaged(history, {stat: state.stat, commit: head.commit}, tip, found.changed),
      reflog: {
        who: personText(entry.committer),
        what: `commit: ${entry.subject}`,
        create: true,
      },
    });
    if (moved === 'moved') return {moved: true};
    if (moved !== 'done') return {waits: moved.wait};
  } finally {
    for (const path of [place.index, place.ref, place.record]) release(path);
  }
  Object.assign(history, {root: tree, commit: tip});
  for (const {name} of found.changed) history.proven.delete(name);
  return {commit: tip};
}

/** HEAD's tree with these files; writes objects except staged ones. Ignores what a person has staged. */
export async function treeWith(
  history: History,
  head: Head,
  changed: readonly FoundFile[],
): Promise<{tree: Tree; staged: StagedObjects}> {
  let staged = new StagedObjects(history.objects);
  const store: TreeStore = {
    load: id => mustRead(history, id),
    write: (raw, before) => staged.write('tree', raw, before),
  };
  const tree = await treeAt(history, head.commit);
  // The tree is changed in place from here on; it is cached again only after a commit.
  Object.assign(history, {root: undefined, commit: undefined});
  const inOrder = [...changed].sort((a, b) => Number(a.content !== undefined) - Number(b.content !== undefined));
  for (const {name, content} of inOrder) {
    const names = name.split('/');
    if (!isLoaded(tree, names)) await loadPath(store, tree, names);
    const before = leafAt(tree, names);
    if (content?.bytes) staged.write('blob', content.bytes, before?.id);
    setLeaf(tree, names, content && {id: content.id, mode: content.mode.toString(8)});
    if (staged.bytes < MOST_HELD) continue;
    await staged.flush();
    staged = new StagedObjects(history.objects);
  }
  writeTrees(store, tree);
  return {tree, staged};
}

/** Whether the index already has this version, with the stat of that time. */
function isStaged(state: IndexState, {name, content}: FoundFile): boolean {
  const at = placeIn(state, name);
  if (at === undefined || !content) return at === undefined && !content;
  return blobIn(state, at) === content.id && modeIn(state, at) === content.mode;
}

function indexChange({name, content}: FoundFile): IndexChange {
  return {
    name: Buffer.from(name, 'latin1'),
    entry: content && {id: content.id, mode: content.mode, stat: content.stat},
  };
}
