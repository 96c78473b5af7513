import {readApprovalItems} from '../../../formats/approval/approval-item.ts';
import {parseSession} from '../../../formats/session/session.ts';
import type {Call, Message} from '../../../formats/session/session-schema.ts';
import {awaitsAnswer} from '../../../formats/session/spent.ts';
import {fieldOf, type Task} from '../../../formats/task/task.ts';
import {parseTasks} from '../../../formats/task/task-parse.ts';
import type {SessionUndo} from '../../../formats/undo/undo-session.ts';
import type {TasksUndo} from '../../../formats/undo/undo-tasks.ts';
import {callWords} from '../../../policy/call-words.ts';
import {toolNamed, tools} from '../../../policy/tools.ts';
import type {UndoEdit} from './plan-file.ts';
import {workspaceUndo} from './workspace-undo.ts';

/** Effects that an undo leaves in place, and the next steps of the daemon, as sentences. */
export interface UndoConsequences {
  cannot: string[];
  next: string[];
}

export async function consequencesOf(home: string, edit: UndoEdit): Promise<UndoConsequences> {
  const {undo, kind, asked, now, bytes} = edit;
  const told: UndoConsequences = {cannot: [], next: []};
  if (undo?.session && bytes && now) {
    await tellSession(home, undo.session, {now: now.toString(), result: bytes.toString()}, told);
  }
  if (undo?.tasks) tellTasks(undo.tasks, told);
  if (asked.length > 0) tellAsked(asked, now?.toString() ?? '', told);
  if (kind === 'policy') told.cannot.push('calls that the policy allowed or denied meanwhile');
  if (kind === 'memory') told.cannot.push('what agents have read meanwhile');
  if (!bytes && kind === 'session') told.cannot.push('its messages are not delivered again');
  if (!now && kind === 'session') told.next.push('a daemon continues the session; started calls are not run again');
  return told;
}

async function tellSession(
  home: string,
  {removed, blanked, stays}: SessionUndo,
  {now, result}: {now: string; result: string},
  {cannot, next}: UndoConsequences,
): Promise<void> {
  const agent = parseSession(result).header?.agent_id ?? '';
  for (const message of removed) cannot.push(...ofMessage(message));
  for (const {approval} of removed.flatMap(({tool_calls = []}) => tool_calls))
    if (approval !== undefined) next.push(`the request ${approval} is withdrawn`);
  for (const call of blanked) cannot.push(...(await ofCall(home, agent, call)));
  if (blanked.length > 0) cannot.push('the recorded result stays in git: agentdir verify reports the change');
  cannot.push(...stays);
  const [is, would] = [parseSession(now), parseSession(result)];
  if (
    removed.some(({role}) => role === 'user') &&
    is.messages.length > would.messages.length &&
    answeredAfter(is.messages, removed)
  )
    cannot.push('answers to it stay in the session');
  const works = !['paused', 'completed', 'error'].includes(would.header?.status ?? '');
  if (works && awaitsAnswer(would.messages) && !awaitsAnswer(is.messages))
    next.push(`@${agent} will answer again; to prevent that, set "status: paused" in the session first`);
}

function answeredAfter(messages: readonly Message[], removed: readonly Message[]): boolean {
  const first = messages.findIndex(({content, timestamp}) =>
    removed.some(one => one.content === content && one.timestamp === timestamp),
  );
  return first !== -1 && messages.slice(first).some(({role}) => role === 'assistant');
}

function ofMessage({delivery, from, usage}: Message): string[] {
  const lines: string[] = [];
  if (delivery !== undefined) lines.push(`${from ?? delivery} does not send it again (${delivery} was delivered)`);
  const tokens = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  if (tokens > 0)
    lines.push(`${tokens} tokens are spent (${usage?.cost_usd === undefined ? 'cost unknown' : `$${usage.cost_usd}`})`);
  return lines;
}

/** The effects of a call, and how to undo its file changes. */
async function ofCall(home: string, agent: string, call: Call): Promise<string[]> {
  const name = toolNamed(call.function.name);
  // A refused call never ran.
  if (name === undefined || tools[name].effect === 'read' || call.started === undefined) return [];
  const lines = [`${callWords(call.function)} was done (call ${call.id})`];
  const files = await workspaceUndo(home, agent, call.id);
  if (files !== undefined) lines.push(files);
  return lines;
}

function tellTasks({setBack, reopened, removed, stays}: TasksUndo, {cannot, next}: UndoConsequences): void {
  for (const task of setBack) {
    const who = fieldOf(task, 'assigned') === undefined ? undefined : task.names[0];
    if (who !== undefined) next.push(`${nameOf(task)} is reset: it is delivered to @${who} again`);
  }
  for (const task of [...setBack, ...reopened]) {
    const told = fieldOf(task, 'notified') ?? fieldOf(task, 'created_by');
    if (task.state !== 'in_progress' && told !== undefined)
      cannot.push(`others were informed that ${nameOf(task)} is ${task.state}`);
  }
  for (const task of reopened)
    if (task.names.length > 0)
      next.push(`@${task.names[0]} is not informed that ${nameOf(task)} is open again: use agentdir task note or send`);
  for (const task of removed) {
    const by = fieldOf(task, 'created_by');
    if (by !== undefined) cannot.push(`${by} was not informed that ${nameOf(task)} is gone`);
  }
  cannot.push(...stays);
}

function nameOf(task: Task): string {
  return fieldOf(task, 'id') ?? `"${task.title}"`;
}

function tellAsked(ids: readonly string[], queue: string, {cannot, next}: UndoConsequences): void {
  for (const item of readApprovalItems(parseTasks(queue)).items) {
    if (item.id === undefined || !ids.includes(item.id)) continue;
    next.push(`${item.id} is pending again: agentdir approve ${item.id}, or reject`);
    const rule = fieldOf(item.task, 'rule');
    if (rule !== undefined && !rule.startsWith('none'))
      cannot.push(`the rule that it added to allowlist.yaml (${rule}): agentdir undo allowlist.yaml`);
    if (item.type === 'budget') cannot.push('tokens and cost spent beyond the limit');
  }
}
