import {fieldOf, idsIn, type Note, type Task, type TaskFile, type TaskState} from '../formats/task/task.ts';
import {assigneeOf, isReady} from '../formats/task/task-assignee.ts';
import {mentionedNames} from './mentions.ts';
import {type NoteMention, noteMentions} from './note-marks.ts';
import {attemptKey, partsRound, type TaskNews, taskEnd} from './task.ts';

/** What is to be done about tasks, besides writing their file. */
export type TaskDue =
  /** Its assignee gets it, once; or says whether it has begun. */
  | {do: 'deliver'; task: Task; key: string}
  /** A person has to let it start first. */
  | {do: 'ask'; task: Task; key: string}
  /** Its creator is told what became of it. */
  | {do: 'tell'; task: Task; key: string; end: string; to: string}
  /** All its parts are done: its owner is told. */
  | {do: 'parts'; task: Task; key: string; count: number; round: number; to: string}
  /** The agent that was made for it goes with it. */
  | {do: 'close'; session: string}
  /** Agents that its notes name are woken. */
  | {do: 'mention'; task: Task; key: string; mentions: NoteMention[]};

export interface DueContext {
  stateOf: (id: string) => TaskState | undefined;
  isAgent: (name: string) => boolean;
  /** States of the tasks whose parent it is, in all files. */
  partsOf: (id: string) => readonly TaskState[];
  news: (key: string) => (TaskNews & {heard?: boolean}) | undefined;
  /** Sessions of agents that were made for a task, and are still there for it. */
  isEphemeral: (session: string) => boolean;
}

/** In the order in which it is to be done: urgent tasks first. */
export function dueOf(file: TaskFile, context: DueContext): TaskDue[] {
  const due: TaskDue[] = [];
  for (const task of file.tasks) {
    const key = attemptKey(task);
    if (key === undefined) continue;
    if (task.state === 'pending') due.push(...startOf(task, key, context));
    else if (task.state !== 'in_progress') due.push(...afterEnd(task, key, context));
    if (isOpen(task)) due.push(...partsDone(task, key, context));
    due.push(...mentionsOf(task, key, context));
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
  // By somebody who does not say where to: it is delivered and waits.
  if (fieldOf(task, 'assigned') !== undefined && fieldOf(task, 'session') === undefined) return [];
  const wants = fieldOf(task, 'approval_required') === 'true' && fieldOf(task, 'assigned') === undefined;
  return [{do: wants ? 'ask' : 'deliver', task, key}];
}

function afterEnd(task: Task, key: string, {isAgent, news, isEphemeral}: DueContext): TaskDue[] {
  const due: TaskDue[] = [];
  const by = fieldOf(task, 'created_by')?.replace(/^@/, '');
  const end = taskEnd(task);
  const isTold = fieldOf(task, 'notified') === end || news(key)?.told === end;
  if (by !== undefined && isAgent(by) && !isTold) due.push({do: 'tell', task, key, end, to: by});
  const session = fieldOf(task, 'session');
  const isOver = task.state === 'completed' || task.state === 'skipped';
  if (isOver && session !== undefined && fieldOf(task, 'assign') !== undefined && isEphemeral(session))
    due.push({do: 'close', session});
  return due;
}

/** A parent does not wait for its parts; but whoever has it is told when the last one is done. */
function partsDone(task: Task, key: string, {partsOf, isAgent, news}: DueContext): TaskDue[] {
  const id = fieldOf(task, 'id') ?? '';
  const to = [assigneeOf(task).name, fieldOf(task, 'created_by')?.replace(/^@/, '')].find(
    name => name !== undefined && isAgent(name),
  );
  const round = partsRound(task);
  if (to === undefined || round === undefined || news(key)?.partsTold !== undefined) return [];
  const states = partsOf(id);
  const isDone = states.includes('completed') && states.every(state => state === 'completed' || state === 'skipped');
  return isDone ? [{do: 'parts', task, key, count: states.length, round, to}] : [];
}

/** Of a person's notes and of agents', but nobody wakes themselves. Each is woken once by each note. */
function mentionsOf(task: Task, key: string, {isAgent, news}: DueContext): TaskDue[] {
  const marks = new Set([...idsIn(fieldOf(task, 'mentioned')), ...(news(key)?.mentioned ?? [])]);
  const named = (note: Note) => mentionedNames(note.text).filter(name => name !== note.who && isAgent(name));
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
