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
import {makeOwnRepository} from './own-repository.ts';
import {closeSubmodules} from './submodules.ts';
import {finishUndo} from './undo-steps.ts';
import type {CallCommit, CloneOrigin, CommitResult, Workspace} from './workspace.ts';

export type {CallCommit, CloneOrigin, CommitResult, Workspace} from './workspace.ts';

/**
 * Create the workspace and its history if needed; the first time in a process, commit what an earlier process left. A
 * failure is shown to the model. Takes a fraction of a millisecond if everything exists. `signal` aborts cloning.
 */
export function openWorkspace(
  workspace: Workspace,
  origin?: CloneOrigin,
  signal?: AbortSignal,
): Promise<CommitResult | ToolFailure> {
  return guarded(
    workspace,
    async () => {
      const failed = await make(workspace, origin, signal);
      if (failed) return failed;
      if (origin?.git === 'own') await locked(workspace, () => makeOwnRepository(workspace.home, workspace.agent));
      return withOther(workspace, origin, await open(workspace));
    },
    why => failure('FAILED', `the workspace cannot be used: ${why}`),
  );
}

/**
 * Call before a call that may change files: commits what others left as theirs. `paths`: all files that the call may
 * change, if known, relative to the workspace. With `call`, changes found after a crash are attributed to that call;
 * `commitCall` must follow in any case. Never throws.
 */
export function keepFound(workspace: Workspace, paths?: readonly string[], call?: CallCommit): Promise<CommitResult> {
  return whileOpen(workspace, async (history, notes) => {
    const done = await commitOthers(workspace, history, names(paths));
    if (call) markCall(history.gitDir, call);
    return commitResult(history, done, notes, !paths);
  });
}

/** Commit the changes of a finished call, if any. A delayed commit is made later, as this call's. Never throws. */
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
      // A command may change files that are not kept; a tool that names its file changes nothing else.
      if (done?.commit !== undefined) markEmpty(history.gitDir, undefined);
      else if (done && done.waits === undefined && (!paths || done.leftOut.length > 0)) markEmpty(history.gitDir, call);
    }
  });
  // The workspace cannot be used now. The call is over anyway and must not block others.
  if (!isMarked && findGitDir(home, agent) === true) markCall(gitDirOf(home, agent), call, true);
  return result;
}

/** Work on the history of a workspace, one at a time; commits pending changes first. Never throws. */
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

/** Last task of each workspace in this process. */
const last = new Map<string, Promise<unknown>>();

/** Run tasks of a workspace one after another in this process; among processes, `locked` orders writers. */
function inTurn<T>({home, agent}: {home: string; agent: string}, work: () => Promise<T>): Promise<T> {
  const key = `${home}\0${agent}`;
  const result = (last.get(key) ?? Promise.resolve()).then(work);
  const settled = result.then(
    () => {},
    () => {},
  );
  last.set(key, settled);
  settled.then(() => {
    if (last.get(key) === settled) last.delete(key);
  });
  return result;
}

function guarded<T>(workspace: Workspace, work: () => Promise<T>, refused: (why: string) => T): Promise<T> {
  return inTurn(workspace, work).catch((error: Error) => refused(error.message));
}

/** Undefined: the git-dir exists. */
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

/** Report once if the template names another repository or branch than the workspace was cloned from. */
function withOther(
  workspace: Workspace,
  origin: CloneOrigin | undefined,
  opened: CommitResult | ToolFailure,
): CommitResult | ToolFailure {
  const {gitDir, reported} = workspaceHistory(workspace);
  const before = cloneOf(gitDir);
  if (isFailure(opened) || !before || origin?.clone === undefined) return opened;
  const {clone, branch} = cloneNames(workspace, origin.clone, origin.branch);
  if (clone === before.clone && branch === before.branch) return opened;
  const words = `the workspace was cloned from ${before.clone}, branch ${before.branch}, and stays so, whatever the template says now`;
  if (reported.has(words)) return opened;
  reported.add(words);
  return {...opened, notes: [...opened.notes, words]};
}

/** Restore the `.git` file and commit the changes of finished calls; the first time also all other changes. */
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

/** Attribute changes to the running calls, or to the person if there are none. */
function entryOfOthers(workspace: Workspace, calls: readonly CallCommit[], found: WorkspaceFindings, cause: string) {
  return calls.length > 0 ? entryOfCalls(workspace, calls, cause) : entryOfPerson(workspace, found, cause);
}

/** Commit what calls left. Staged changes are the person's, unless one of the calls was unconfined. */
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

/** Commit changes by others. Staged changes are the person's; other changes may come from running calls. */
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

/** Build the result without notes that were already reported. `whole`: the whole workspace was scanned. */
function commitResult(
  history: History,
  {commit, waits, leftOut}: CommitOutcome,
  notes: readonly string[],
  whole: boolean,
): CommitResult {
  const {reported} = history;
  const fresh = leftOut.filter(words => !reported.has(words));
  const more = fresh.length > MOST_NAMED ? [`and ${fresh.length - MOST_NAMED} more`] : [];
  const out = fresh.slice(0, MOST_NAMED).map(words => `not in the history: ${words}`);
  const waiting = waits === undefined ? [] : [`not committed yet: ${waits}`];
  const all = [...notes, ...out, ...more, ...waiting.filter(words => !reported.has(words))];
  const before = [...reported].filter(
    words => words.startsWith('the workspace was ') || (!whole && !words.startsWith('not committed yet: ')),
  );
  history.reported = new Set([...before, ...leftOut, ...waiting]);
  return commit === undefined ? {notes: all} : {commit, notes: all};
}
