import {UserError} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {mergeLines} from '../../formats/merge/merge-lines.ts';
import {readHead} from '../../home/git/git-refs.ts';
import {mustRead} from '../../home/git/git-repository.ts';
import {StagedObjects} from '../../home/git/git-staged.ts';
import type {Leaf} from '../../home/git/git-trees.ts';
import {leafAt, loadPath} from '../../home/git/git-trees.ts';
import {textOfName} from './byte-folder.ts';
import {emptyCall, markEmpty, markedCalls} from './call-marks.ts';
import {type History, locked, treeAt} from './history.ts';
import {EMPTY_TREE, filesBetween, readChanges, type TreeChange, type WorkspaceCommit} from './read-history.ts';
import {commitOthers, whileOpen} from './repository.ts';
import {isSame, runUndoSteps} from './undo-steps.ts';
import type {CallCommit, CommitResult, Workspace} from './workspace.ts';
import {leafOnDisk, obstacle} from './write-back.ts';
import {type FileStep, fileOf, isSubmodule} from './write-steps.ts';

interface Conflict {
  path: string;
  why: string;
}

export type UndoResult =
  | {undone: WorkspaceCommit; commit: string; files: readonly string[]; notes: readonly string[]}
  | {undone: WorkspaceCommit; conflicts: readonly Conflict[]; notes: readonly string[]}
  | {undone: WorkspaceCommit; nothing: true; notes: readonly string[]};

/** Facts that the history does not show. */
export interface UndoContext {
  /** Description of the last call, if the history has no commit of it. */
  empty: string | undefined;
  /** Running calls; their changes so far may be in the commit. */
  running: readonly CallCommit[];
}

/**
 * Undo one commit by a commit on top: restores its files and keeps later changes to other lines. Writes nothing if that
 * is impossible. Commits uncommitted changes first, so nothing is lost. `pick` may throw an error for the caller.
 */
export async function undoCommit(
  workspace: Workspace,
  pick: (changes: readonly WorkspaceCommit[], also: UndoContext) => WorkspaceCommit,
): Promise<UndoResult | {failed: readonly string[]}> {
  let thrown: {error: unknown} | undefined;
  let outcome: UndoResult | undefined;
  const kept = await whileOpen(workspace, (history, notes) =>
    locked(history, async (): Promise<CommitResult> => {
      const before = await commitOthers(workspace, history);
      if (before.waits !== undefined) return {notes: [before.waits]};
      try {
        const {gitDir} = history;
        const running = markedCalls(gitDir).flatMap(({call, over}) => (over ? [] : [call]));
        const change = pick(await readChanges(gitDir), {empty: emptyCall(gitDir), running});
        outcome = await takeBack(workspace, history, change, notes);
      } catch (error) {
        const told = error instanceof UserError || !(error instanceof Error);
        thrown = {error: told ? error : new UserError(`nothing was undone: ${error.message}`)};
      }
      return {notes: []};
    }),
  );
  if (thrown) throw thrown.error;
  return outcome ?? {failed: kept.notes};
}

async function takeBack(
  workspace: Workspace,
  history: History,
  change: WorkspaceCommit,
  notes: readonly string[],
): Promise<UndoResult> {
  const files = await filesBetween(history.gitDir, change.parent ?? EMPTY_TREE, change.commit);
  const conflicts: Conflict[] = [];
  const steps: FileStep[] = [];
  const refuse = (name: string, why: string) => conflicts.push({path: visibleLine(textOfName(name)), why});
  for (const file of files) {
    const step = await plan(history, file);
    if (step && 'why' in step) refuse(file.name, step.why);
    else if (step) steps.push(step);
  }
  const leaving = new Set(steps.flatMap(({name, to}) => (fileOf(to) ? [] : [name])));
  for (const {name} of steps) {
    const why = obstacle(history, name, leaving);
    if (why !== undefined) refuse(name, why);
  }
  if (conflicts.length > 0) return {undone: change, conflicts, notes};
  if (steps.length === 0) return {undone: change, nothing: true, notes};
  const done = await runUndoSteps(workspace, history, {undone: change, steps});
  markEmpty(history.gitDir, undefined);
  if (done.commit === undefined)
    throw new UserError(`the files are as they were before it, but that is not committed yet: ${done.waits ?? ''}`);
  return {undone: change, commit: done.commit, files: steps.map(({name}) => visibleLine(textOfName(name))), notes};
}

/** Plan the change of one file; undefined: no change needed. */
async function plan(
  history: History,
  {name, before, after}: TreeChange,
): Promise<FileStep | {why: string} | undefined> {
  const now = await leafNow(history, name);
  if (isSame(now, before)) return undefined;
  // The file is in no commit: too large, just written, or hidden from git.
  if (!isSame(fileOf(now), await leafOnDisk(history, name))) return {why: 'is not what was committed last'};
  if (isSame(now, after)) return {name, from: now, to: before};
  if ([before, after, now].some(isSubmodule)) return {why: 'is a submodule that was changed since'};
  if (!now) return {why: 'was removed since'};
  if (!before) return {why: 'was changed since the call made it'};
  if (!after) return {why: 'was made anew since the call removed it'};
  return merged(history, name, before, after, now);
}

async function merged(
  history: History,
  name: string,
  before: Leaf,
  after: Leaf,
  now: Leaf,
): Promise<FileStep | {why: string}> {
  if ([before, after, now].some(({mode}) => mode === '120000')) return {why: 'is a link that was changed since'};
  const mode = now.mode === after.mode ? before.mode : now.mode;
  const [old, done, current] = await Promise.all([before, after, now].map(leaf => mustRead(history, leaf.id)));
  if (!old || !done || !current || [old, done, current].some(bytes => bytes.includes(0)))
    return {why: 'was changed since, and is not text'};
  // As latin1, so that bytes that are not UTF-8 survive.
  const result = mergeLines(done.toString('latin1'), current.toString('latin1'), old.toString('latin1'));
  const places = result.conflicts.map(conflict => conflict.split(':')[0]);
  if (places.length > 0) return {why: `was changed since at the same place: ${places.join(', ')}`};
  const staged = new StagedObjects(history.objects);
  const id = staged.write('blob', Buffer.from(result.text, 'latin1'));
  await staged.flush();
  return {name, from: now, to: {id, mode}};
}

async function leafNow(history: History, name: string): Promise<Leaf | undefined> {
  const head = readHead(history.dirs);
  const tree = await treeAt(history, 'commit' in head ? head.commit : undefined);
  const names = name.split('/');
  await loadPath({load: id => mustRead(history, id), write: () => ''}, tree, names);
  return leafAt(tree, names);
}
