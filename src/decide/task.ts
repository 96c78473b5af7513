import {mentionedNames} from '../formats/mentions.ts';
import {fieldOf, idsIn, type Note, type Task, type TaskFile, type TaskState} from '../formats/task/task.ts';
import {isApprovalRequired, isDelivered} from '../formats/task/task-approval.ts';
import {assigneeOf} from '../formats/task/task-assignee.ts';
import {type TaskChange, updateTasks} from '../formats/task/task-edit.ts';
import type {CompletedFile} from './complete.ts';
import {noteMentions} from './note-marks.ts';
import {informedNow} from './task-version.ts';

/** News about a task that its file does not have yet. */
export interface TaskNews {
  /** When and to which session the task was delivered, and what its agent knows of it by that: see `informedNow`. */
  delivered?: {at: string; session: string; informed?: string} | undefined;
  /** What the agent was told of the task last. */
  informed?: string | undefined;
  /** Former agents that were told that the task is no longer theirs: entries of the field `withdrawn`. */
  withdrawn?: readonly string[] | undefined;
  /** The sessions of this home were searched for a delivery of the task: there is none. */
  sought?: boolean | undefined;
  /** When the assignee began. */
  begun?: string | undefined;
  /** The end that the creator was told of, as returned by `taskEnd`. */
  told?: string | undefined;
  /** When the owner was told that all parts are done. */
  partsTold?: string | undefined;
  /** Marks of mentions in notes that were delivered. */
  mentioned?: readonly string[] | undefined;
  /** Id of the request to start the task. */
  approval?: string | undefined;
  /** An agent chose the model of the task, so that a person has to approve the start. */
  gated?: boolean | undefined;
  /** The start was rejected or has expired. */
  refused?: {state: 'skipped' | 'blocked'; why: string} | undefined;
}

export interface TaskContext {
  /** ISO time. */
  now: string;
  newId: () => string;
  news: (key: string) => TaskNews | undefined;
  isAgent: (name: string) => boolean;
  /** The agent of a session, and whether it was created for a task; undefined if there is no such session. */
  ownerOf: (session: string) => {agent: string; ephemeral: boolean} | undefined;
  /** States of the subtasks of a task, in all files. */
  partsOf: (id: string) => readonly TaskState[];
  /** Lines of tasks to leave alone: `unclearTasks`. */
  unclear: ReadonlySet<number>;
}

/** Identifies a task and attempt, which is delivered once. Undefined: the task has no id yet. */
export function attemptKey(task: Task): string | undefined {
  const id = fieldOf(task, 'id');
  return id === undefined ? undefined : `task/${id}#${attemptOf(task)}`;
}

function attemptOf(task: Task): number {
  const attempt = Number(fieldOf(task, 'attempt') ?? 1);
  return Number.isSafeInteger(attempt) && attempt > 0 ? attempt : 1;
}

/**
 * Fill in missing fields: ids of assigned tasks, times that follow from the box, and news. The box is the state; times
 * follow it. Undefined if nothing is missing.
 */
export function completeTasks(file: TaskFile, context: TaskContext): CompletedFile | undefined {
  const changes: [Task, TaskChange][] = [];
  const words: string[] = [];
  const ids: string[] = [];
  for (const task of file.tasks) {
    if (context.unclear.has(task.line)) continue;
    const {verb, ...change} = missing(task, context);
    const {fields = {}, box} = change;
    const keys = Object.keys(fields);
    if (keys.length === 0 && box === undefined) continue;
    changes.push([task, change]);
    words.push(`${verb ?? ''}${verb === undefined ? keys.join(', ') : ''} of "${short(task.title)}"`);
    ids.push(fields.id ?? fieldOf(task, 'id') ?? '');
  }
  if (changes.length === 0) return undefined;
  const what = words.length > 2 ? `${words[0]} and ${words.length - 1} more tasks` : words.join(' and ');
  const isStateChange = /^(?:set back|start|delivery|withdrawal|end)\b/.test(what);
  return {
    text: updateTasks(file, changes),
    words: isStateChange ? what : `filled in ${what}`,
    tasks: ids.filter(Boolean),
  };
}

type Missing = TaskChange & {fields: Record<string, string | undefined>; verb?: string};

function missing(task: Task, context: TaskContext): Missing {
  const {now, newId} = context;
  const has = (key: string) => fieldOf(task, key) !== undefined;
  const change: Missing = {fields: {}};
  const {fields} = change;
  // Leave tasks without assignee or mention alone.
  if (task.names.length > 0 || has('assign') || (!has('id') && namesAgent(task, context))) {
    if (!has('id')) fields.id = newId();
    if (!has('created')) fields.created = now;
  }
  const key = attemptKey(task);
  const news = (key !== undefined && context.news(key)) || {};
  switch (task.state) {
    case 'pending':
      // Reset by a person, or assigned to another agent: begin again.
      if (has('started') || has('completed') || wasReassigned(task, context)) resetTask(task, change, context);
      else if (news.refused) refuseStart(news.refused, now, change);
      else addDelivery(task, news, change);
      break;
    case 'in_progress':
      // Begun by one agent, then assigned to another.
      if (wasReassigned(task, context)) {
        if (context.isAgent(assigneeOf(task).name ?? '')) {
          resetTask(task, change, context);
          change.box = ' ';
        } else releaseTask(task, change);
        break;
      }
      if (!has('started')) fields.started = news.begun ?? now;
      if (has('completed')) fields.completed = undefined;
      break;
    case 'completed':
      if (has('completed')) break;
      fields.completed = now;
      // A person ticked the box, which ends the chain.
      if (has('chain')) fields.chain = undefined;
      break;
    case 'blocked':
      if (wasReassigned(task, context)) releaseTask(task, change);
      break;
  }
  const open = task.state === 'pending' || task.state === 'in_progress';
  if (task.state !== 'pending' && change.box === undefined && !('session' in fields))
    addMissedSteps(task, news, fields);
  if (!open && has('stalled')) fields.stalled = undefined;
  const notified = fieldOf(task, 'notified');
  if (open && notified !== undefined && !('notified' in fields) && !isReopened(notified))
    fields.notified = `reopened ${timesTold(task)}`;
  if (!open && news.told === taskEnd(task) && notified !== news.told) fields.notified = news.told;
  if (!('parts_done' in fields)) updatePartsDone(task, context, news, fields);
  const marks = idsIn(fieldOf(task, 'mentioned'));
  if (!('session' in fields)) updateInformed(task, context, news, fields);
  const told = [...(news.mentioned ?? []), ...marksOfHolder(task, context, fields)];
  const newMarks = [...new Set(told)].filter(mark => !marks.includes(mark));
  if (newMarks.length > 0) fields.mentioned = [...marks, ...newMarks].join(' ');
  const former = idsIn(fieldOf(task, 'withdrawn'));
  const untold = former.filter(each => !news.withdrawn?.includes(each));
  if (untold.length < former.length && !('withdrawn' in fields))
    fields.withdrawn = untold.length > 0 ? untold.join(' ') : undefined;
  return change;
}

/** The agent that has the task, open and delivered in this home. */
export function agentHolding(
  task: Task,
  context: Pick<TaskContext, 'ownerOf'>,
): {agent: string; session: string} | undefined {
  const session = fieldOf(task, 'session');
  const isOpen = task.state === 'pending' || task.state === 'in_progress' || task.state === 'blocked';
  if (!isOpen || session === undefined || !isDelivered(task) || wasReassigned(task, context)) return undefined;
  const agent = context.ownerOf(session)?.agent;
  return agent === undefined ? undefined : {agent, session};
}

/** Record what the agent was told. A task that an earlier build delivered counts as known. */
function updateInformed(task: Task, context: TaskContext, {informed}: TaskNews, fields: Missing['fields']): void {
  const holder = agentHolding(task, context);
  const recorded = fieldOf(task, 'informed');
  if (!holder) return;
  if (recorded === undefined) fields.informed = informedNow(task, holder.agent);
  else if (informed !== undefined && Number.parseInt(informed, 10) > Number.parseInt(recorded, 10))
    fields.informed = informed;
}

/** Marks of mentions of the agent that has the task, in notes that it was told of. */
function marksOfHolder(task: Task, context: TaskContext, {informed}: Missing['fields']): string[] {
  const holder = agentHolding(task, context);
  if (!holder || task.notes.length === 0) return [];
  const recorded = informed ?? fieldOf(task, 'informed');
  if (recorded?.split(' ')[2] !== informedNow(task, holder.agent).split(' ')[2]) return [];
  const own = ({text, who}: Note) => mentionedNames(text).filter(name => name === holder.agent && name !== who);
  return noteMentions(task, own).map(({mark}) => mark);
}

/** Whether a note mentions an agent. Such a task needs an id, so that each mention is delivered once. */
function namesAgent({notes}: Task, {isAgent}: TaskContext): boolean {
  return notes.some(({text, who}) => mentionedNames(text).some(name => name !== who && isAgent(name)));
}

/** The end of a task, as its creator's notice names it: the state, and from the second end within one attempt on, its number. */
export function taskEnd(task: Task, state: TaskState = task.state): string {
  const notified = fieldOf(task, 'notified') ?? '';
  const nth = isReopened(notified) ? timesTold(task) + 1 : timesTold(task);
  return nth > 1 ? `${state} ${nth}` : state;
}

function timesTold(task: Task): number {
  return countIn(fieldOf(task, 'notified') ?? '');
}

/** How often all parts were done, including now; each time is another delivery. Undefined: the owner was told. */
export function partsRound(task: Task): number | undefined {
  const recorded = fieldOf(task, 'parts_done');
  if (recorded === undefined) return 1;
  return isReopened(recorded) ? countIn(recorded) + 1 : undefined;
}

function countIn(notified: string): number {
  const [, count] = notified.split(' ');
  return Number(count ?? 1) || 1;
}

function isReopened(notified: string): boolean {
  return notified.startsWith('reopened');
}

/** Record the delivery, the begin or the approval request of a pending task. */
function addDelivery(task: Task, {delivered, begun, approval, gated}: TaskNews, change: Missing): void {
  const {fields} = change;
  if (gated && !isApprovalRequired(fieldOf(task, 'approval_required'))) fields.approval_required = 'true';
  if (approval !== undefined && fieldOf(task, 'approval') !== approval) fields.approval = approval;
  if (delivered && (fieldOf(task, 'assigned') === undefined || fieldOf(task, 'session') !== delivered.session)) {
    // `assigned` without a session is from another system.
    if (!isDelivered(task)) fields.assigned = delivered.at;
    fields.session = delivered.session;
    if (delivered.informed !== undefined && fieldOf(task, 'informed') === undefined)
      fields.informed = delivered.informed;
    change.verb = 'delivery';
  }
  if (delivered && begun !== undefined) {
    change.box = '/';
    fields.started = begun;
    change.verb = 'start';
  }
}

/** A fast agent may end a task before its delivery and begin are recorded. */
function addMissedSteps(task: Task, {delivered, begun}: TaskNews, fields: Record<string, string | undefined>): void {
  if (!delivered) return;
  if (fieldOf(task, 'assigned') === undefined) fields.assigned = delivered.at;
  if (fieldOf(task, 'session') === undefined) {
    fields.session = delivered.session;
    if (delivered.informed !== undefined && fieldOf(task, 'informed') === undefined)
      fields.informed = delivered.informed;
  }
  if (fieldOf(task, 'started') === undefined && begun !== undefined) fields.started = begun;
}

const ATTEMPT_FIELDS = 'assigned started completed session approval notified parts_done stalled informed'.split(' ');

function resetTask(task: Task, change: Missing, context: TaskContext): void {
  const {isAgent} = context;
  if (wasReassigned(task, context)) change.fields.withdrawn = withdrawnFrom(task);
  for (const key of ATTEMPT_FIELDS) if (fieldOf(task, key) !== undefined) change.fields[key] = undefined;
  const {name = '', spawn} = assigneeOf(task);
  // The task may be delivered although the file does not show it, after a crash or a person's tick.
  const mayBeDelivered = fieldOf(task, 'assigned') !== undefined || spawn || isAgent(name);
  if (mayBeDelivered) change.fields.attempt = `${attemptOf(task) + 1}`;
  change.verb = 'set back';
}

/**
 * The task goes on without the agent that has it: assigned to a person, to nobody, or while it is blocked. It is another attempt,
 * because what was delivered belongs to the last one.
 */
function releaseTask(task: Task, change: Missing): void {
  change.fields.withdrawn = withdrawnFrom(task);
  change.fields.attempt = `${attemptOf(task) + 1}`;
  for (const key of ['assigned', 'session', 'informed', 'stalled'])
    if (fieldOf(task, key) !== undefined) change.fields[key] = undefined;
  change.verb = 'withdrawal';
}

/** The field `withdrawn` with the session that has the task now: its agent is to be told. */
function withdrawnFrom(task: Task): string {
  const entry = `${fieldOf(task, 'session')}#${attemptOf(task)}`;
  return [...new Set([...idsIn(fieldOf(task, 'withdrawn')), entry])].join(' ');
}

function refuseStart({state, why}: NonNullable<TaskNews['refused']>, now: string, change: Missing): void {
  change.box = state === 'skipped' ? '-' : '!';
  change.note = {time: now, who: 'agentdir', text: why};
  // The request is decided: resetting the task asks again.
  change.fields.approval = undefined;
  change.verb = 'end';
}

/** Whether the task was delivered to an agent that is no longer the assignee. */
function wasReassigned(task: Task, {ownerOf}: Pick<TaskContext, 'ownerOf'>): boolean {
  const session = fieldOf(task, 'session');
  const owner = session === undefined || fieldOf(task, 'assigned') === undefined ? undefined : ownerOf(session);
  const {name, model, spawn} = assigneeOf(task);
  return owner !== undefined && (owner.ephemeral !== spawn || (model === undefined && owner.agent !== name));
}

function updatePartsDone(task: Task, context: TaskContext, {partsTold}: TaskNews, fields: Missing['fields']): void {
  const recorded = fieldOf(task, 'parts_done');
  const round = partsRound(task);
  if (round !== undefined && partsTold !== undefined)
    fields.parts_done = round > 1 ? `${partsTold} ${round}` : partsTold;
  else if (recorded !== undefined && round === undefined && hasOpenParts(task, context))
    fields.parts_done = `reopened ${countIn(recorded)}`;
}

function hasOpenParts(task: Task, {partsOf}: TaskContext): boolean {
  return partsOf(fieldOf(task, 'id') ?? '').some(state => state !== 'completed' && state !== 'skipped');
}

function short(title: string): string {
  const line = title.replace(/\s+/g, ' ').trim();
  return line.length > 50 ? `${line.slice(0, 49)}…` : line;
}
