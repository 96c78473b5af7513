import {failure, isFailure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';
import {nameOfText} from './byte-folder.ts';
import {markCall, markEmpty, markedCalls, unmarkCall} from './call-marks.ts';
import {cloneNames, takeClone} from './clone.ts';
import {cloneOf} from './clone-record.ts';
import {type CommitOutcome, commitFiles, commitStaged, type EntryFor} from './commit-files.ts';
import {entryOfCalls, entryOfPerson} from './entries.ts';
import type {WorkspaceFindings} from './findings.ts';
import {isWorkspaceName} from './folder.ts';
import {findGitDir, gitDirOf, makeGitDir} from './git-dir.ts';
import {keepLink} from './git-link.ts';
import {forgetHistory, type History, isHistoryOpen, locked, workspaceHistory} from './history.ts';
import {closeSubmodules} from './submodules.ts';
import {inTurn} from './turns.ts';
import {finishUndo} from './undo-steps.ts';
import type {CallCommit, CloneOrigin, CommitResult, Workspace} from './workspace.ts';

export type {CallCommit, CloneOrigin, CommitResult, Workspace} from './workspace.ts';

/**
 * Make the workspace and its history if they are not there yet; at the first time in a process, commit what an earlier
 * one left. A failure is what the model is told. Costs a fraction of a millisecond when all is there. `signal`: give up
 * what is cloned.
 */
export function openWorkspace(
  workspace: Workspace,
  origin?: CloneOrigin,
  signal?: AbortSignal,
): Promise<CommitResult | ToolFailure> {
  return guarded(
    workspace,
    async () => (await make(workspace, origin, signal)) ?? withOther(workspace, origin, await open(workspace)),
    why => failure('FAILED', `the workspace cannot be used: ${why}`),
  );
}

/**
 * Before a call that may change files: what somebody else left there is committed as theirs. `paths`: all that the call
 * may change, if known, from the workspace on. With `call`, what is found after a crash is known as that call's;
 * `commitCall` must follow, whatever came of it. Never throws.
 */
export function keepFound(workspace: Workspace, paths?: readonly string[], call?: CallCommit): Promise<CommitResult> {
  return whileOpen(workspace, async (history, notes) => {
    const done = await commitOthers(workspace, history, names(paths));
    if (call) markCall(history.gitDir, call);
    return commitResult(history, done, notes, !paths);
  });
}

/** After it: the commit of what it changed, if it changed something. One that must wait is made later, as this call's. Never throws. */
export async function commitCall(
  workspace: Workspace,
  call: CallCommit,
  paths?: readonly string[],
): Promise<CommitResult> {
  const {home, agent} = workspace;
  let isMarked = false;
  const result = await whileOpen(workspace, async (history, notes) => {
    isMarked = true;
    let done: CommitOutcome | undefined;
    try {
      done = await commitOwed(workspace, history, [call], () => entryOfCalls(workspace, [call], 'call'), names(paths));
      return commitResult(history, done, notes, !paths);
    } finally {
      if (done && done.waits === undefined) unmarkCall(history.gitDir, call);
      else markCall(history.gitDir, call, true);
      // A command may change what is not kept; a tool that names its file leaves nothing else.
      if (done?.commit !== undefined) markEmpty(history.gitDir, undefined);
      else if (done && done.waits === undefined && (!paths || done.leftOut.length > 0)) markEmpty(history.gitDir, call);
    }
  });
  // The workspace cannot be used now. The call is over all the same, and holds up nobody.
  if (!isMarked && findGitDir(home, agent) === true) markCall(gitDirOf(home, agent), call, true);
  return result;
}

/** Work on the history of a workspace, in turn with all others; what was owed is committed before. Never throws. */
export function whileOpen<T extends CommitResult>(
  workspace: Workspace,
  work: (history: History, notes: readonly string[]) => Promise<T | CommitResult>,
): Promise<T | CommitResult> {
  return guarded<T | CommitResult>(
    workspace,
    async () => {
      const ready = (await make(workspace, undefined)) ?? (await open(workspace));
      if (isFailure(ready)) return {notes: [ready.error]};
      return work(workspaceHistory(workspace), ready.notes);
    },
    why => ({notes: [`not committed yet: ${why}`]}),
  );
}

const names = (paths: readonly string[] | undefined) => paths?.map(nameOfText);

function guarded<T>(workspace: Workspace, work: () => Promise<T>, refused: (why: string) => T): Promise<T> {
  return inTurn(workspace, work).catch((error: Error) => refused(error.message));
}

/** Undefined: the git-dir is there. */
async function make(
  workspace: Workspace,
  origin: CloneOrigin | undefined,
  signal?: AbortSignal,
): Promise<ToolFailure | undefined> {
  const {home, agent} = workspace;
  if (!isWorkspaceName(agent)) return failure('FAILED', 'there is no workspace for an agent of this name');
  const there = findGitDir(home, agent);
  if (isFailure(there)) return there;
  const gitDir = gitDirOf(home, agent);
  const {clone, branch} = origin ?? {};
  if (!there) forgetHistory(workspace);
  if (clone !== undefined && !(there && cloneOf(gitDir))) {
    forgetHistory(workspace);
    return locked({home, agent}, () => takeClone(workspace, clone, branch, signal));
  }
  if (!there) await locked({home, agent}, async () => findGitDir(home, agent) || makeGitDir(gitDir, 'main'));
  return undefined;
}

/** Told once: the template names another repository or branch than the workspace was made from. */
function withOther(
  workspace: Workspace,
  origin: CloneOrigin | undefined,
  opened: CommitResult | ToolFailure,
): CommitResult | ToolFailure {
  const {gitDir, told} = workspaceHistory(workspace);
  const before = cloneOf(gitDir);
  if (isFailure(opened) || !before || origin?.clone === undefined) return opened;
  const {clone, branch} = cloneNames(workspace, origin.clone, origin.branch);
  if (clone === before.clone && branch === before.branch) return opened;
  const words = `the workspace was cloned from ${before.clone}, branch ${before.branch}, and stays so, whatever the template says now`;
  if (told.has(words)) return opened;
  told.add(words);
  return {...opened, notes: [...opened.notes, words]};
}

/** The `.git` file in its place, and what is owed committed: by calls that ended, at first also whatever else is there. */
async function open(workspace: Workspace): Promise<CommitResult | ToolFailure> {
  const {home, agent} = workspace;
  const link = keepLink(home, agent);
  if (isFailure(link)) return link;
  const isFirst = !isHistoryOpen(workspace);
  const history = workspaceHistory(workspace);
  const notes = [
    ...(link.note === undefined ? [] : [link.note]),
    ...(await closeSubmodules(history)),
    ...(await finishUndo(workspace, history)),
  ];
  const marks = markedCalls(history.gitDir);
  const owed = marks.filter(({over}) => over);
  if (!isFirst && owed.length === 0) return {notes};
  const calls = (owed.length > 0 ? owed : marks).map(({call}) => call);
  const isLeft = marks.length === 0 || owed.some(({died}) => died);
  const cause = isLeft ? 'recovered' : owed.length > 0 ? 'call' : 'found';
  const done = await commitOwed(workspace, history, calls, found => entryOfOthers(workspace, calls, found, cause));
  if (done.waits === undefined) for (const {call} of owed) unmarkCall(history.gitDir, call);
  return commitResult(history, done, notes, true);
}

/** While calls run, what is found is taken for theirs, else for the person's. */
function entryOfOthers(workspace: Workspace, calls: readonly CallCommit[], found: WorkspaceFindings, cause: string) {
  return calls.length > 0 ? entryOfCalls(workspace, calls, cause) : entryOfPerson(workspace, found, cause);
}

/** What calls left, by what they could do: what is staged is the person's, unless one of them could. */
async function commitOwed(
  workspace: Workspace,
  history: History,
  calls: readonly CallCommit[],
  entryFor: EntryFor,
  paths?: readonly string[],
): Promise<CommitOutcome> {
  const unconfined = calls.some(call => call.unconfined);
  const ofPerson: EntryFor = found => entryOfPerson(workspace, found, 'found');
  const staged = await commitStaged(history, unconfined ? entryFor : ofPerson, paths);
  if (staged.waits !== undefined) return staged;
  const done = await commitFiles(history, entryFor, paths);
  return staged.commit === undefined || !unconfined ? done : {commit: staged.commit, ...done};
}

/** What is staged is the person's: no call in its sandbox can. What else is there may be of calls that run. */
export async function commitOthers(
  workspace: Workspace,
  history: History,
  paths?: readonly string[],
): Promise<CommitOutcome> {
  const staged = await commitStaged(history, found => entryOfPerson(workspace, found, 'found'), paths);
  if (staged.waits !== undefined) return staged;
  const calls = markedCalls(history.gitDir).map(({call}) => call);
  return commitFiles(history, found => entryOfOthers(workspace, calls, found, 'found'), paths);
}

const MOST_NAMED = 5;

/** The result of a commit, without notes that were given before and still hold. `whole`: the whole workspace was looked at. */
function commitResult(
  history: History,
  {commit, waits, leftOut}: CommitOutcome,
  notes: readonly string[],
  whole: boolean,
): CommitResult {
  const {told} = history;
  const fresh = leftOut.filter(words => !told.has(words));
  const more = fresh.length > MOST_NAMED ? [`and ${fresh.length - MOST_NAMED} more`] : [];
  const out = fresh.slice(0, MOST_NAMED).map(words => `not in the history: ${words}`);
  const waiting = waits === undefined ? [] : [`not committed yet: ${waits}`];
  const all = [...notes, ...out, ...more, ...waiting.filter(words => !told.has(words))];
  const before = [...told].filter(
    words => words.startsWith('the workspace was ') || (!whole && !words.startsWith('not committed yet: ')),
  );
  history.told = new Set([...before, ...leftOut, ...waiting]);
  return commit === undefined ? {notes: all} : {commit, notes: all};
}
