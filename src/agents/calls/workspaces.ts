import {join} from 'node:path';
import {isFailure} from '../../effects/tool/failure.ts';
import type {ReadyCall, ToolResult} from '../../effects/tool/tool.ts';
import {parseToolPath} from '../../effects/workspace/place.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import {crashPoint} from '../../home/disk/crash.ts';
import {lookAgain} from '../../loop/look-again.ts';
import {callWords} from '../../policy/call-words.ts';
import {toolNamed} from '../../policy/tools.ts';
import {waitingSessions} from '../approvals/call-context.ts';
import {endUnconfined} from '../approvals/protected-files.ts';
import {type Caller, nameOfCall} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {effectsOf} from '../world/effects.ts';

const fileChangingTools: ReadonlySet<string> = new Set([
  'write_file',
  'create_file',
  'edit_file',
  'create_directory',
  'execute_command',
]);

/** Whether the call may change files in its agent's workspace. */
export function changesFiles(call: Call, ready: ReadyCall): boolean {
  return !ready.readOnly && fileChangingTools.has(toolNamed(call.function.name) ?? '');
}

/** How long a command waits for the journal to be written. */
const FLUSH_MS = 2_000;

/** Run a call and commit its changes to the agent's workspace. Changes by others are committed first. */
export async function runInWorkspace(
  daemon: With<'files' | 'reports' | 'turns' | 'approvals' | 'effects'>,
  caller: Caller,
  call: Call,
  ready: ReadyCall,
): Promise<ToolResult> {
  const {files, reports} = daemon;
  const run = () => (ready.unconfined ? runUnconfined(daemon, caller, call, ready) : ready.execute());
  if (!changesFiles(call, ready)) return run();
  const {agent, session} = caller;
  const workspace = {home: files.home, agent, name: files.name};
  const effects = effectsOf(daemon.effects.world);
  const {workspaceStates} = daemon.approvals;
  const readState = () => effects.wholeState(workspace, daemon.turns.stopping);
  const isWatched = ready.alone && othersWait(daemon, caller, call);
  const before = isWatched ? await workspaceStates.current(agent, readState, {fresh: true}) : undefined;
  const opened = await effects.openWorkspace(workspace, caller.template.workspace, daemon.turns.stopping);
  if (isFailure(opened)) return reports.redact.value(opened);
  const paths = pathsOf(call, join(files.home, 'workspaces', agent));
  const words = visibleLine(reports.redact.text([callWords(call.function, ready.edited), ...(paths ?? [])].join(' ')));
  const commit = {session, call: call.id, approval: call.approval, words, unconfined: ready.unconfined};
  const found = await effects.keepFound(workspace, paths, commit);
  const notes = [...opened.notes, ...found.notes];
  let result: ToolResult;
  try {
    result = await run();
  } finally {
    crashPoint('workspace-commit');
    const kept = await effects.commitCall(workspace, commit, paths);
    notes.push(...kept.notes);
    workspaceStates.forget(agent);
    if (before && 'digest' in before && !daemon.turns.stopped) {
      const after = await workspaceStates.current(agent, readState);
      // So this call does not void other decisions.
      if ('digest' in after) workspaceStates.record(agent, before.digest, after.digest);
    }
    if (kept.commit !== undefined) refreshWaitingCalls(daemon, caller);
  }
  return notes.length === 0 ? result : {...result, workspace_notes: reports.redact.value([...new Set(notes)])};
}

async function runUnconfined(
  daemon: With<'files' | 'reports' | 'approvals'>,
  caller: Caller,
  call: Call,
  ready: ReadyCall,
): Promise<ToolResult> {
  const {reports} = daemon;
  const words = `${callWords(call.function, ready.edited)} of ${caller.agent}`;
  daemon.approvals.beginUnconfined(nameOfCall(caller, call), words);
  reports.changed();
  // Commit earlier decisions first, so that git shows what the command alters. If git is busy, the version log has the decisions, and
  // `suspectChanges` takes back what the command writes into them.
  await daemon.files.journal.flush(FLUSH_MS);
  try {
    return await ready.execute();
  } finally {
    endUnconfined(daemon, nameOfCall(caller, call));
  }
}

/** Clone the workspace and make the agent's own repository, if the template says so, before a call is judged. Returns the failure, if any. */
export async function makeWorkspace(
  {files, reports, turns, effects}: With<'files' | 'reports' | 'turns' | 'effects'>,
  {agent, template}: Caller,
): Promise<ToolResult | undefined> {
  const {home, name} = files;
  const {troubles} = reports;
  const trouble = `clone ${agent}`;
  if (template.workspace?.clone === undefined) troubles.set(trouble, undefined);
  if (!template.workspace || effects.cloned.has(agent)) return undefined;
  const opened = await effectsOf(effects.world).openWorkspace({home, agent, name}, template.workspace, turns.stopping);
  const failed = isFailure(opened) ? reports.redact.value(opened) : undefined;
  // A person can fix the cause; each call tries again.
  if (!turns.stopped) troubles.set(trouble, failed && `agent ${agent}: ${failed.error}`);
  if (failed) return failed;
  effects.cloned.add(agent);
  return undefined;
}

/** Commit the changes that an interrupted call of an earlier daemon left in the workspace. */
export async function recoverWorkspace(
  {files, turns, effects}: With<'files' | 'turns' | 'effects'>,
  {agent, template}: Caller,
): Promise<void> {
  const {home, name} = files;
  await effectsOf(effects.world).openWorkspace({home, agent, name}, template.workspace, turns.stopping);
}

/** The paths that a file tool changes; undefined if the call may change any path. */
function pathsOf({function: {arguments: args}}: Call, workspace: string): string[] | undefined {
  try {
    const {path} = JSON.parse(args) as {path?: unknown};
    const place = typeof path === 'string' ? parseToolPath(path, 'write', workspace) : undefined;
    return place && !isFailure(place) ? [place.parts.join('/')] : undefined;
  } catch {
    return undefined;
  }
}

/** Whether other calls of the agent have requests, which are bound to its workspace. */
function othersWait({files, approvals}: With<'files' | 'approvals'>, {agent}: Caller, {approval}: Call): boolean {
  for (const path of waitingSessions(files, approvals, agent))
    if (approvals.waits.callsOf(path).some(id => id !== approval)) return true;
  return false;
}

/** Refresh the diffs of the agent's waiting calls after its workspace changed. */
function refreshWaitingCalls({files, approvals}: With<'files' | 'approvals'>, {agent, path: own}: Caller): void {
  for (const path of waitingSessions(files, approvals, agent)) {
    if (path === own) continue;
    approvals.staleSessions.add(path);
    lookAgain(files, path);
  }
}
