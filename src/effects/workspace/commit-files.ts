import {setTimeout as sleep} from 'node:timers/promises';
import {isUnfinished} from '../../store/git/git-busy.ts';
import type {ImportedFile} from '../../store/git/git-import.ts';
import {clearLeftovers, release} from '../../store/git/git-locks.ts';
import {moveHead} from '../../store/git/git-move-head.ts';
import {readHead} from '../../store/git/git-refs.ts';
import {mustRead} from '../../store/git/git-repository.ts';
import type {Findings, FoundFile} from './findings.ts';
import {findFiles} from './found-files.ts';
import {type History, type HistoryEntry, indexOf, locked} from './history.ts';
import {blobIn, type IndexState, isCurrent, modeIn, placeIn, putInPlace, writeIndex} from './index-state.ts';
import {keepPermissions} from './permissions.ts';
import {EMPTY_TREE} from './read-history.ts';
import {adoptStaged, stagedFiles} from './staged-files.ts';

/** So long a person's own git command, or another lock, is waited for. */
const PATIENCE_MS = 3_000;
const MOST_MOVES = 20;

export interface CommitOutcome {
  /** Undefined: nothing differed, or it could not be committed now. */
  commit?: string;
  /** Why it could not; it is still there to be committed. */
  waits?: string;
  leftOut: readonly string[];
}

/**
 * Commit what differs in the workspace, where HEAD is. Whatever a person's git does at the same time stands: the branch
 * moves only from where it was when this was prepared, and else it is prepared again.
 */
export function commitFiles(
  history: History,
  entryFor: EntryFor,
  paths?: readonly string[],
  /** What no file shows: where submodules are, or no longer. */
  also: readonly FoundFile[] = [],
): Promise<CommitOutcome> {
  return commitFound(history, entryFor, async state => {
    const found = await findFiles({...history, state}, paths);
    if (also.length === 0) return found;
    const changed = new Map([...found.changed, ...also].map(file => [file.name, file]));
    return {...found, changed: [...changed.values()]};
  });
}

/** The same of what is staged, as it is staged, whatever the files are by now. */
export function commitStaged(history: History, entryFor: EntryFor, paths?: readonly string[]): Promise<CommitOutcome> {
  return commitFound(history, entryFor, async () => ({
    changed: [...(await stagedFiles(history, paths))],
    same: [],
    leftOut: [],
  }));
}

export type EntryFor = (found: Findings) => HistoryEntry | Promise<HistoryEntry>;

async function commitFound(
  history: History,
  entryFor: EntryFor,
  find: (state: IndexState) => Promise<Findings>,
): Promise<CommitOutcome> {
  const end = performance.now() + PATIENCE_MS;
  let leftOut: readonly string[] = [];
  for (let pause = 5, moves = 0; ; pause = Math.min(pause * 2, 100)) {
    const state = await indexOf(history);
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
    // A merge or rebase takes as long as the person does.
    if (performance.now() > end || 'moved' in outcome || isUnfinished(history.dirs))
      return {waits: 'waits' in outcome ? outcome.waits : 'HEAD of the workspace does not hold still', leftOut};
    // What is in the way may be a dead process of ours, and whoever else is there may have pruned.
    clearLeftovers(history.dirs);
    history.blobs.forget();
    history.importer.end();
    await sleep(pause);
  }
}

type Tried = {commit: string} | {nothing: true} | {moved: true} | {waits: string};

async function tryCommit(history: History, state: IndexState, found: Findings, entry: HistoryEntry): Promise<Tried> {
  // What was found counts only if nobody committed meanwhile.
  if (!isCurrent(state)) return {moved: true};
  const head = readHead(history.dirs);
  if ('unsupported' in head) return {waits: head.unsupported};
  if (state.index.unmerged) return {waits: 'a merge in the workspace is not finished (unmerged paths)'};
  const {place} = history;
  try {
    const tip = await importFiles(history, head.commit, found.changed, entry);
    // A person has staged something else: that is theirs to commit, or not.
    if ((await treeOf(history, tip)) === (await treeOf(history, head.commit))) return {nothing: true};
    const changes = found.changed.filter(file => !isIn(state, file));
    await writeIndex(history.gitDir, state, place.index, changes);
    const moved = await moveHead({
      repository: history,
      index: {
        isCurrent: () => isCurrent(state),
        isForeignSince: () => false,
        putInPlace: () => {
          putInPlace(state, place.index);
          adoptStaged(history, {stat: state.stat, commit: head.commit}, tip, found.changed);
        },
      },
      place,
      head,
      tip,
      reflog: {who: entry.committer, what: `commit: ${entry.subject}`, create: true},
      git: async () => ({code: 1, stdout: '', stderr: 'branches of a workspace are files'}),
    });
    if (moved === 'moved') return {moved: true};
    if (moved !== 'done') return {waits: moved.wait};
    for (const {name, content} of found.changed) {
      history.proven.delete(name);
      if (content?.stat) history.proven.set(name, {id: content.id, stat: content.stat});
    }
    return {commit: tip};
  } finally {
    for (const path of [place.index, `${place.index}.lock`, place.ref, place.record]) release(path);
  }
}

/** A commit on top of `parent` with these files, to which nothing refers yet. */
export async function importFiles(
  {importer}: History,
  parent: string | undefined,
  changed: readonly FoundFile[],
  entry: HistoryEntry,
): Promise<string> {
  // What is removed first: a file may come where a folder was.
  const inOrder = [...changed].sort((a, b) => Number(a.content !== undefined) - Number(b.content !== undefined));
  const files = inOrder.map(({name, content}): [string, ImportedFile | undefined] => {
    if (!content) return [name, undefined];
    const mode = content.mode.toString(8);
    return [name, content.bytes ? {mode, bytes: content.bytes} : {mode, id: content.id}];
  });
  importer.begin(parent);
  importer.commit({...entry, time: Date.now(), files});
  const [commit = ''] = await importer.finish();
  return commit;
}

async function treeOf(history: History, commit: string | undefined): Promise<string> {
  return commit === undefined ? EMPTY_TREE : (await mustRead(history, commit)).toString('latin1', 5, 45);
}

/** It is staged: the index says so already, and how the file looked then. */
function isIn(state: IndexState, {name, content}: FoundFile): boolean {
  const at = placeIn(state, name);
  if (at === undefined || !content) return at === undefined && !content;
  return blobIn(state, at) === content.id && modeIn(state, at) === content.mode;
}
