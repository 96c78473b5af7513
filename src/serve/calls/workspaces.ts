import {join} from 'node:path';
import {isFailure} from '../../effects/tools/failure.ts';
import type {ReadyCall, ToolResult} from '../../effects/tools/tool.ts';
import {placeOf} from '../../effects/workspace/place.ts';
import type {Call} from '../../files/session/session-schema.ts';
import {visibleLine} from '../../files/visible.ts';
import {callWords} from '../../policy/call-words.ts';
import {toolNamed} from '../../policy/tools.ts';
import {crashPoint} from '../../store/crash.ts';
import {suspectChanges} from '../approvals/void.ts';
import {effectsOf} from '../effects.ts';
import {lookAgain} from '../look-again.ts';
import type {Serving} from '../serving.ts';
import type {Caller} from './caller.ts';

/** Tools that change files of the workspace. */
const changing: ReadonlySet<string> = new Set([
  'write_file',
  'create_file',
  'edit_file',
  'create_directory',
  'execute_command',
]);

/** Whether it may change files of its agent's workspace. */
export function changesFiles(call: Call, ready: ReadyCall): boolean {
  return !ready.readOnly && changing.has(toolNamed(call.function.name) ?? '');
}

/** A journal that cannot be written just now keeps no command waiting for longer. */
const FLUSH_MS = 2_000;

/** Run a call, and commit what it changed in the agent's workspace. What somebody else left there is committed before. */
export async function runInWorkspace(
  serving: Serving,
  caller: Caller,
  call: Call,
  ready: ReadyCall,
): Promise<ToolResult> {
  if (!changesFiles(call, ready)) return run(serving, caller, call, ready);
  const {agent, session} = caller;
  const workspace = {home: serving.home, agent, name: serving.name};
  const effects = effectsOf(serving);
  const opened = await effects.openWorkspace(workspace, caller.template.workspace, serving.turns.stopping);
  if (isFailure(opened)) return serving.redact.value(opened);
  const paths = pathsOf(call, join(serving.home, 'workspaces', agent));
  const words = visibleLine(serving.redact.text([callWords(call.function, ready.edited), ...(paths ?? [])].join(' ')));
  const commit = {session, call: call.id, approval: call.approval, words, unconfined: ready.unconfined};
  const found = await effects.keepFound(workspace, paths, commit);
  const notes = [...opened.notes, ...found.notes];
  let result: ToolResult;
  try {
    result = await run(serving, caller, call, ready);
  } finally {
    crashPoint('workspace-commit');
    const kept = await effects.commitCall(workspace, commit, paths);
    notes.push(...kept.notes);
    if (kept.commit !== undefined) changed(serving, caller);
  }
  return notes.length === 0 ? result : {...result, workspace_notes: serving.redact.value([...new Set(notes)])};
}

async function run(serving: Serving, {agent}: Caller, call: Call, ready: ReadyCall): Promise<ToolResult> {
  if (!ready.unconfined) return ready.execute();
  const words = `${callWords(call.function, ready.edited)} of ${agent}`;
  const over = serving.approvals.runsUnconfined(words);
  serving.onChanged();
  // What was decided before it began is known from the journal, whatever it does to the files.
  await serving.journal.flush(FLUSH_MS);
  try {
    return await ready.execute();
  } finally {
    suspectChanges(serving, words);
    over();
    serving.onChanged();
  }
}

/** A workspace that starts from an existing repository is there before anything is read or asked about it. */
export async function makeWorkspace(serving: Serving, {agent, template}: Caller): Promise<ToolResult | undefined> {
  const {home, name, turns, troubles} = serving;
  const trouble = `clone ${agent}`;
  if (template.workspace?.clone === undefined) troubles.set(trouble, undefined);
  if (template.workspace?.clone === undefined || serving.cloned.has(agent)) return undefined;
  const opened = await effectsOf(serving).openWorkspace({home, agent, name}, template.workspace, turns.stopping);
  const failed = isFailure(opened) ? serving.redact.value(opened) : undefined;
  // A person can mend it, and each call that needs it tries again.
  if (!turns.stopped) troubles.set(trouble, failed && `agent ${agent}: ${failed.error}`);
  if (failed) return failed;
  serving.cloned.add(agent);
  return undefined;
}

/** A call of an earlier daemon: what it left is committed as its own. */
export async function recoverWorkspace(serving: Serving, {agent, template}: Caller): Promise<void> {
  const {home, name, turns} = serving;
  await effectsOf(serving).openWorkspace({home, agent, name}, template.workspace, turns.stopping);
}

/** What a file tool changes; undefined: whatever it likes. */
function pathsOf({function: {arguments: args}}: Call, workspace: string): string[] | undefined {
  try {
    const {path} = JSON.parse(args) as {path?: unknown};
    const place = typeof path === 'string' ? placeOf(path, 'write', workspace) : undefined;
    return place && !isFailure(place) ? [place.parts.join('/')] : undefined;
  } catch {
    return undefined;
  }
}

/** What other calls of the agent ask for may be something else now: their diffs are made anew. */
function changed(serving: Serving, {agent, path: own}: Caller): void {
  for (const path of serving.waits.paths()) {
    const waits = serving.waits.callsOf(path).length > 0 && serving.index.facts(path)?.session?.agent === agent;
    if (!waits || path === own) continue;
    serving.approvals.stale.add(path);
    lookAgain(serving, path);
  }
}
