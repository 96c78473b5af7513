import {mentionedNames} from '../formats/mentions.ts';
import {fieldOf, idsIn, type Note, type Task, type TaskFile, type TaskState} from '../formats/task/task.ts';
import {isDelivered, isGated} from '../formats/task/task-approval.ts';
import {assigneeOf, isReady} from '../formats/task/task-assignee.ts';
import {type NoteMention, noteMentions} from './note-marks.ts';
import {agentHolding, attemptKey, partsRound, type TaskContext, type TaskNews, taskEnd} from './task.ts';
import {type UntoldChange, untoldChange} from './task-version.ts';

/** An action that a task requires, besides writing its file. */
export type TaskDue =
  /** Deliver the task to its assignee once, or learn whether the assignee has begun. */
  | {do: 'deliver'; task: Task; key: string}
  /** Ask a person to approve the start. */
  | {do: 'ask'; task: Task; key: string}
  /** Find out whether a session of this home has the task, which says only `assigned`. */
  | {do: 'seek'; task: Task; key: string}
  /** Tell the agent that has the task what was changed in it. */
  | {do: 'change'; task: Task; key: string; to: string; session: string; change: UntoldChange}
  /** Tell a former agent that the task is no longer its own. */
  | {do: 'withdraw'; task: Task; key: string; entry: string; session: string; attempt: string}
  /** Tell the creator how the task ended. */
  | {do: 'tell'; task: Task; key: string; end: string; to: string}
  /** Tell the owner that all parts are done. */
  | {do: 'parts'; task: Task; key: string; count: number; round: number; to: string}
  /** Close the session of the agent that was created for the task. */
  | {do: 'close'; session: string}
  /** Wake agents that the task's notes mention. */
  | {do: 'mention'; task: Task; key: string; mentions: NoteMention[]};

export interface DueContext {
  stateOf: (id: string) => TaskState | undefined;
  isAgent: (name: string) => boolean;
  /** States of the subtasks of a task, in all files. */
  partsOf: (id: string) => readonly TaskState[];
  news: (key: string) => (TaskNews & {heard?: boolean}) | undefined;
  /** The agent of a session, and whether it was created for a task; undefined if there is no such session. */
  ownerOf: TaskContext['ownerOf'];
  /** Whether the session belongs to an agent that was created for a task and is not completed. */
  isEphemeral: (session: string) => boolean;
  /** Lines of tasks with errors, which are not started, and of those that nothing is done for: `unclearTasks`. */
  wrong: ReadonlySet<number>;
  unclear: ReadonlySet<number>;
}

/** The due actions for a task file, urgent tasks first. */
export function dueOf(file: TaskFile, context: DueContext): TaskDue[] {
  const due: TaskDue[] = [];
  for (const task of file.tasks) {
    const key = attemptKey(task);
    if (key === undefined || context.unclear.has(task.line)) continue;
    if (task.state === 'pending') due.push(...(context.wrong.has(task.line) ? [] : startOf(task, key, context)));
    else if (task.state !== 'in_progress') due.push(...afterEnd(task, key, context));
    else if (lacksSession(task) && !context.news(key)?.sought) due.push({do: 'seek', task, key});
    if (isOpen(task)) due.push(...partsDone(task, key, context));
    due.push(...mentionsOf(task, key, context), ...changesOf(task, key, context), ...withdrawals(task, key, context));
  }
  return due.sort((a, b) => urgency(a) - urgency(b) || dueTime(a) - dueTime(b));
}

function isOpen({state}: Task): boolean {
  return state === 'pending' || state === 'in_progress' || state === 'blocked';
}

function startOf(task: Task, key: string, context: DueContext): TaskDue[] {
  const waiting = {state: task.state, assignee: assigneeOf(task), dependsOn: idsIn(fieldOf(task, 'depends_on'))};
  if (!isReady(waiting, context)) return [];
  const news = context.news(key);
  if (news?.heard || news?.refused) return [];
  if (lacksSession(task) && !news?.sought) return [{do: 'seek', task, key}];
  return [{do: isGated(task) ? 'ask' : 'deliver', task, key}];
}

/** Delivered by another system, or here, and its session was removed from the file. */
function lacksSession(task: Task): boolean {
  return fieldOf(task, 'assigned') !== undefined && !isDelivered(task);
}

function afterEnd(task: Task, key: string, {isAgent, news, isEphemeral}: DueContext): TaskDue[] {
  const due: TaskDue[] = [];
  const by = fieldOf(task, 'created_by')?.replace(/^@/, '');
  const end = taskEnd(task);
  const isNotified = fieldOf(task, 'notified') === end || news(key)?.told === end;
  if (by !== undefined && isAgent(by) && !isNotified) due.push({do: 'tell', task, key, end, to: by});
  const session = fieldOf(task, 'session');
  const isClosed = task.state === 'completed' || task.state === 'skipped';
  if (isClosed && session !== undefined && fieldOf(task, 'assign') !== undefined && isEphemeral(session))
    due.push({do: 'close', session});
  return due;
}

/** A parent task does not wait for its parts, but its owner gets a notice when the last part is done. */
function partsDone(task: Task, key: string, {partsOf, isAgent, news}: DueContext): TaskDue[] {
  const id = fieldOf(task, 'id') ?? '';
  // The assignee hears nothing of a task whose start is not approved.
  const assignee = isGated(task) ? undefined : assigneeOf(task).name;
  const to = [assignee, fieldOf(task, 'created_by')?.replace(/^@/, '')].find(
    name => name !== undefined && isAgent(name),
  );
  const round = partsRound(task);
  if (to === undefined || round === undefined || news(key)?.partsTold !== undefined) return [];
  const states = partsOf(id);
  const isDone = states.includes('completed') && states.every(state => state === 'completed' || state === 'skipped');
  return isDone ? [{do: 'parts', task, key, count: states.length, round, to}] : [];
}

/** Changes of a task that its agent has not been told. */
function changesOf(task: Task, key: string, context: DueContext): TaskDue[] {
  const holder = agentHolding(task, context);
  const change = holder && untoldChange(task, holder.agent);
  const news = context.news(key);
  if (!change || news?.informed === change.informed) return [];
  // First it is told of another id of a task that it has not begun.
  if (task.state === 'pending' && !news?.heard) return [];
  return [{do: 'change', task, key, to: holder.agent, session: holder.session, change}];
}

function withdrawals(task: Task, key: string, {news}: DueContext): TaskDue[] {
  return idsIn(fieldOf(task, 'withdrawn')).flatMap(entry => {
    const [, session, attempt] = /^(.+)#(\d+)$/.exec(entry) ?? [];
    if (news(key)?.withdrawn?.includes(entry)) return [];
    return [{do: 'withdraw', task, key, entry, session: session ?? '', attempt: attempt ?? '1'}];
  });
}

/** Mentions in notes, except of the note's author, and of the agent that has the task and gets its notes. Each note wakes each agent once. */
function mentionsOf(task: Task, key: string, context: DueContext): TaskDue[] {
  const {isAgent, news} = context;
  const holder = agentHolding(task, context)?.agent;
  const marks = new Set([...idsIn(fieldOf(task, 'mentioned')), ...(news(key)?.mentioned ?? [])]);
  const named = (note: Note) =>
    mentionedNames(note.text).filter(name => name !== note.who && name !== holder && isAgent(name));
  const mentions = noteMentions(task, named).filter(({mark}) => !marks.has(mark));
  return mentions.length === 0 ? [] : [{do: 'mention', task, key, mentions}];
}

function urgency(due: TaskDue): number {
  const priority = 'task' in due ? due.task.priority : undefined;
  return priority === undefined ? 4 : 'ABCD'.indexOf(priority);
}

function dueTime(due: TaskDue): number {
  const time = 'task' in due ? Date.parse(fieldOf(due.task, 'due') ?? '') : Number.NaN;
  return Number.isNaN(time) ? Number.MAX_SAFE_INTEGER : time;
}
