import {DAEMON_FIELDS} from '../../decide/new-tasks.ts';
import {taintOf} from '../../decide/taint.ts';
import {taskEnd} from '../../decide/task.ts';
import {isByPerson, objectionToChange} from '../../decide/task-gate.ts';
import {informedAfterOwn} from '../../decide/task-version.ts';
import type {Arguments, ToolFailure, ToolResult} from '../../effects/tool/tool.ts';
import {kindOf, stemOf} from '../../formats/common/key.ts';
import {mentionedNames} from '../../formats/mentions.ts';
import {isListedModel} from '../../formats/model-choice.ts';
import {type Chain, chainOf, chainText} from '../../formats/session/chain.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import type {Settings} from '../../formats/settings.ts';
import {
  boxOfState,
  fieldOf,
  idsIn,
  type Task,
  type TaskFile,
  type TaskState,
  taintText,
} from '../../formats/task/task.ts';
import {assigneeIn} from '../../formats/task/task-assignee.ts';
import {updateTask as edit, type TaskChange} from '../../formats/task/task-edit.ts';
import {hasNote} from '../../formats/task/task-text.ts';
import {timestamp} from '../../home/disk/clock.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {type Caller, sessionUpToCall} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import type {EditedTaskFile} from '../state/task-news.ts';
import {gateContext} from './gate-context.ts';
import {requestTaskEdit} from './task-edits.ts';
import {findCircle, problemInTask} from './wrong-task.ts';

/** Change a task that the agent created or is assigned to. Repeating the call changes nothing. */
export async function updateTaskForAgent(
  daemon: With<'files' | 'reports' | 'current' | 'tasks'>,
  caller: Caller,
  call: Call,
  args: Arguments<'update_task'>,
): Promise<ToolResult> {
  const {files} = daemon;
  const {id, status, note, fields = {}} = args;
  if (status === undefined && note === undefined && Object.keys(fields).length === 0)
    return {success: false, code: 'INVALID_ARGUMENTS', error: 'give status, note or fields'};
  const forbidden = Object.keys(fields).find(
    key => DAEMON_FIELDS.has(key) || key === 'approval_required' || key === 'notes',
  );
  if (forbidden !== undefined)
    return {success: false, code: 'INVALID_ARGUMENTS', error: `fields: "${forbidden}" is not for agents to set`};
  const path = files.index.definitionsOf(`task/${id}`)[0]?.path;
  if (path === undefined || kindOf(path) !== 'tasks')
    return {success: false, code: 'INVALID_ARGUMENTS', error: `id: there is no task "${id}"`};
  const problem = problemInTask(files, fields) ?? circleOf(files, id, fields);
  if (problem !== undefined) return {success: false, code: 'INVALID_ARGUMENTS', error: `fields: ${problem}`};
  const rules = (await daemon.current.policy()).tasks ?? {};
  const settings = await daemon.current.settings();
  // The time of the answer with the call, so that a repeated call is recognized by it.
  const asking = caller.of.messages.find(({tool_calls}) => tool_calls?.includes(call));
  const time = asking?.timestamp ?? timestamp(files.disk.clock);
  let state: TaskState | undefined;
  const make = (file: TaskFile): EditedTaskFile | ToolFailure | undefined => {
    const task = file.tasks.find(each => fieldOf(each, 'id') === id);
    if (!task) return {success: false, code: 'FAILED', error: `there is no task "${id}" in ${path} any more`};
    if (!isOwn(task, caller))
      return {
        success: false,
        code: 'DENIED',
        error: `task ${id} is neither yours nor created by you; ask whoever has it with send_message`,
      };
    const objection =
      objectionToChange(task, args, rules, gateContext(files)) ?? unlistedModel(files, task, fields, settings);
    if (objection !== undefined) return {success: false, code: 'DENIED', error: objection};
    // The task was ended while the agent worked on it.
    if (status === 'in_progress' && (task.state === 'completed' || task.state === 'skipped'))
      return {
        success: false,
        code: 'FAILED',
        error: `task ${id} is ${task.state} already; only "pending" gives it out again`,
      };
    state = status ?? task.state;
    const chain = chainOf(sessionUpToCall(caller, call).messages, stemOf(caller.path));
    const change = taskChangeFor(task, caller, args, {time, now: timestamp(files.disk.clock), chain});
    const isNothing = change.box === undefined && !change.note && Object.keys(change.fields ?? {}).length === 0;
    return isNothing ? undefined : {text: edit(file, task, change), words: wordsOf(task, args), tasks: [id]};
  };
  return requestTaskEdit(daemon, path, caller.agent, make, () => ({success: true, id, status: state ?? ''}));
}

function circleOf(files: HomeFiles, id: string, {depends_on}: Readonly<Record<string, string>>): string | undefined {
  return depends_on === undefined ? undefined : findCircle(files, new Map([[id, idsIn(depends_on)]]));
}

/** An agent gives a person's task only to a model that a person listed: nobody is asked about its start. */
function unlistedModel(
  files: HomeFiles,
  task: Task,
  {assign}: Readonly<Record<string, string>>,
  settings: Settings,
): string | undefined {
  const {model} = assigneeIn([], assign);
  if (model === undefined || isListedModel(model, settings) || !isByPerson(task, gateContext(files))) return undefined;
  return `agentdir.yaml does not list the model "${model}", and task ${fieldOf(task, 'id')} was created by a person`;
}

/** Whether the task is assigned to the agent, was created by it, or is worked on in its session. */
function isOwn(task: Task, {agent, session}: Caller): boolean {
  return (
    task.names.includes(agent) ||
    fieldOf(task, 'created_by')?.replace(/^@/, '') === agent ||
    fieldOf(task, 'session') === session
  );
}

/** `time`: time of the answer. `chain`: the chain of messages that led to it. `now`: when the task changes. */
export function taskChangeFor(
  task: Task,
  caller: Caller,
  {status, note, fields = {}}: Pick<Arguments<'update_task'>, 'status' | 'note' | 'fields'>,
  {time, now, chain}: {time: string; now: string; chain: Chain},
): TaskChange {
  const changed: Record<string, string | undefined> = {};
  for (const [key, value] of Object.entries(fields)) if (fieldOf(task, key) !== value) changed[key] = value;
  const moves = status !== undefined && status !== task.state;
  if (moves && status === 'completed' && fieldOf(task, 'completed') === undefined) changed.completed = now;
  if (moves && status === 'in_progress' && fieldOf(task, 'started') === undefined) changed.started = now;
  // If the task was created in this session, its creator knows already.
  if (moves && isEnd(status) && fieldOf(task, 'created_in') === caller.session)
    changed.notified = taskEnd(task, status);
  const text = note?.trim();
  const newNote = text ? {time, who: caller.agent, text} : undefined;
  const noted = newNote && !hasNote(task, newNote) ? newNote : undefined;
  // Agents are not told of their own changes.
  const session = fieldOf(task, 'session');
  const informed = session === caller.session ? informedAfterOwn(task, caller.agent, changed) : undefined;
  if (informed !== undefined) changed.informed = informed;
  const isTold =
    session !== undefined && session !== caller.session && (noted !== undefined || Object.keys(changed).length > 0);
  const taint = taintOf(caller.of);
  const addsText = noted || Object.keys(fields).length > 0;
  if (addsText && taint.length > 0 && fieldOf(task, 'taint') === undefined) changed.taint = taintText(taint);
  if (moves || noted || isTold) {
    // A notification about the change continues this agent's chain, like a message.
    const isNotified = status === 'pending' || (fieldOf(task, 'created_by') ?? '@human') !== '@human';
    const leads =
      isTold || isNotified || fieldOf(task, 'chain') !== undefined || mentionedNames(noted?.text ?? '').length > 0;
    if (leads && fieldOf(task, 'chain') !== chainText(chain)) changed.chain = chainText(chain);
    if (fieldOf(task, 'stalled') !== undefined) changed.stalled = undefined;
  }
  return {
    ...(moves && {box: boxOfState[status]}),
    fields: changed,
    ...(noted && {note: noted}),
  };
}

function isEnd(state: TaskState): boolean {
  return state === 'completed' || state === 'skipped' || state === 'blocked';
}

function wordsOf(task: Task, {status, note, fields}: Arguments<'update_task'>): string {
  const title = `"${task.title.replace(/\s+/g, ' ').slice(0, 60)}"`;
  const what = [
    status !== undefined && status !== task.state && status.replace('_', ' '),
    note !== undefined && 'noted',
    fields && Object.keys(fields).length > 0 && `set ${Object.keys(fields).join(', ')}`,
  ];
  return `${what.filter(Boolean).join(', ') || 'updated'}: ${title}`;
}
