import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {mustRead} from '../../home/git/git-repository.ts';
import type {Leaf} from '../../home/git/git-trees.ts';
import {type CommitOutcome, commitFiles} from './commit-files.ts';
import {entryOfUndo} from './entries.ts';
import {modes} from './file-content.ts';
import type {FoundFile} from './findings.ts';
import {isGitName} from './git-name.ts';
import {type History, locked} from './history.ts';
import type {WorkspaceCommit} from './read-history.ts';
import {closeSubmodules} from './submodules.ts';
import type {Workspace} from './workspace.ts';
import {leafOnDisk} from './write-back.ts';
import {type FileStep, fileOf, isSubmodule, writeSteps} from './write-steps.ts';

/** File in the git-dir while an undo is in progress, so that an interrupted one can be finished. */
const FILE = 'agentdir-undo';

interface UndoMark {
  undone: Pick<WorkspaceCommit, 'commit' | 'subject'>;
  steps: readonly FileStep[];
}

/** Write all files, then commit; the next use finishes it after a crash. Rolls back and throws on system errors. */
export function runUndoSteps(workspace: Workspace, history: History, mark: UndoMark): Promise<CommitOutcome> {
  return writeAndCommit(workspace, history, mark, mark.steps, mark.steps);
}

async function writeAndCommit(
  workspace: Workspace,
  history: History,
  {undone: {commit, subject}, steps}: UndoMark,
  written: readonly FileStep[],
  committed: readonly FileStep[],
): Promise<CommitOutcome> {
  const path = join(history.gitDir, FILE);
  const entry = await entryOfUndo(workspace, {commit, subject});
  const read = ({id}: Leaf) => mustRead(history, id);
  try {
    await writeSteps(history, written, read, () =>
      writeFileSync(path, JSON.stringify({undone: {commit, subject}, steps})),
    );
  } catch (error) {
    rmSync(path, {force: true});
    throw error;
  }
  const names = committed.map(({name}) => name);
  const submodules = committed.filter(({from, to}) => isSubmodule(to) || (isSubmodule(from) && !to));
  const done = await commitFiles(history, () => entry, names, submodules.map(asFound));
  if (done.waits === undefined) rmSync(path, {force: true});
  if (submodules.length > 0) await closeSubmodules(history);
  return done;
}

/** Finish an interrupted undo, keeping later changes by others. Returns notes for the person. */
export async function finishUndo(workspace: Workspace, history: History): Promise<string[]> {
  if (!markIn(history.gitDir)) return [];
  return locked(history, async () => {
    // Read it again: the process that held the lock may have finished the undo.
    const mark = markIn(history.gitDir);
    if (!mark) return [];
    const done: FileStep[] = [];
    const left: FileStep[] = [];
    for (const step of mark.steps) {
      const now = await leafOnDisk(history, step.name);
      if (isSame(now, fileOf(step.to))) done.push(step);
      else if (isSame(now, fileOf(step.from))) left.push(step);
    }
    try {
      await writeAndCommit(workspace, history, mark, left, [...done, ...left]);
      return [];
    } catch (error) {
      return [`an undo that was cut off could not be finished: ${(error as Error).message}`];
    }
  });
}

/** An added or removed submodule. A file in its place is found by the scan. */
function asFound({name, to}: FileStep): FoundFile {
  const content =
    to && isSubmodule(to) ? {id: to.id, mode: modes.repository, bytes: undefined, stat: undefined} : undefined;
  return {name, content};
}

export function isSame(a: Leaf | undefined, b: Leaf | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode;
}

function markIn(gitDir: string): UndoMark | undefined {
  let text: string;
  try {
    text = readFileSync(join(gitDir, FILE), 'utf8');
  } catch {
    return undefined;
  }
  try {
    const mark = JSON.parse(text) as UndoMark;
    return mark.steps.every(({name}) => isPath(name)) ? mark : undefined;
  } catch {
    return undefined;
  }
}

function isPath(name: string): boolean {
  return name.split('/').every(part => part !== '' && part !== '.' && part !== '..' && !isGitName(part));
}
