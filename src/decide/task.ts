import {fieldOf, idsIn, type Task, type TaskFile, type TaskState} from '../formats/task/task.ts';
import {assigneeOf} from '../formats/task/task-assignee.ts';
import {type TaskChange, updateTasks} from '../formats/task/task-edit.ts';
import type {CompletedFile} from './complete.ts';
import {mentionedNames} from './mentions.ts';

/** What is known of a task beyond its file, until the file says so too. */
export interface TaskNews {
  /** It is in the session of its assignee. */
  delivered?: {at: string; session: string} | undefined;
  /** When its assignee began with it. */
  begun?: string | undefined;
  /** The end that its creator was told of, as `taskEnd` has it. */
  told?: string | undefined;
  /** When its owner was told that all its parts are done. */
  partsTold?: string | undefined;
  /** Marks of those whom its notes name and who were woken. */
  mentioned?: readonly string[] | undefined;
  /** The request to start it that was made. */
  approval?: string | undefined;
  /** A person did not let it start. */
  refused?: {state: 'skipped' | 'blocked'; why: string} | undefined;
}

export interface TaskContext {
  /** ISO time. */
  now: string;
  newId: () => string;
  news: (key: string) => TaskNews | undefined;
  isAgent: (name: string) => boolean;
  /** Whose session it is, and whether that agent was made for a task; undefined: there is none of that id. */
  ownerOf: (session: string) => {agent: string; ephemeral: boolean} | undefined;
  /** States of the tasks whose parent it is, in all files. */
  partsOf: (id: string) => readonly TaskState[];
}

/** A task, and which try at it this is: what is delivered once. Undefined: it has no id yet. */
export function attemptKey(task: Task): string | undefined {
  const id = fieldOf(task, 'id');
  return id === undefined ? undefined : `task/${id}#${attemptOf(task)}`;
}

function attemptOf(task: Task): number {
  const attempt = Number(fieldOf(task, 'attempt') ?? 1);
  return Number.isSafeInteger(attempt) && attempt > 0 ? attempt : 1;
}

/**
 * Fill in what a person left out or what follows from a box they set: ids of tasks that somebody is to do, times, and
 * what became of them. The box is the state; times follow it. Undefined if nothing is missing.
 */
export function completeTasks(file: TaskFile, context: TaskContext): CompletedFile | undefined {
  const changes: [Task, TaskChange][] = [];
  const words: string[] = [];
  const ids: string[] = [];
  for (const task of file.tasks) {
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
  const said = /^(?:set back|start|delivery|end)\b/.test(what);
  return {text: updateTasks(file, changes), words: said ? what : `filled in ${what}`, tasks: ids.filter(Boolean)};
}

type Missing = TaskChange & {fields: Record<string, string | undefined>; verb?: string};

function missing(task: Task, context: TaskContext): Missing {
  const {now, newId} = context;
  const has = (key: string) => fieldOf(task, key) !== undefined;
  const change: Missing = {fields: {}};
  const {fields} = change;
  // A list of one's own, with nobody's name on it, is left as it is until something happens to it.
  if (task.names.length > 0 || has('assign') || (!has('id') && namesAgent(task, context))) {
    if (!has('id')) fields.id = newId();
    if (!has('created')) fields.created = now;
  }
  const key = attemptKey(task);
  const news = (key !== undefined && context.news(key)) || {};
  switch (task.state) {
    case 'pending':
      // Set back by a person, or given to another: as if it had never been begun.
      if (has('started') || has('completed') || wentToAnother(task, context)) setBack(task, change, context);
      else if (news.refused) refuseStart(news.refused, now, change);
      else waiting(task, news, change);
      break;
    case 'in_progress':
      // Begun by one agent, and given to another.
      if (wentToAnother(task, context) && context.isAgent(assigneeOf(task).name ?? '')) {
        setBack(task, change, context);
        change.box = ' ';
        break;
      }
      if (!has('started')) fields.started = news.begun ?? now;
      if (has('completed')) fields.completed = undefined;
      break;
    case 'completed':
      if (has('completed')) break;
      fields.completed = now;
      // A person ticked it: what led to it ends here.
      if (has('chain')) fields.chain = undefined;
      break;
  }
  const open = task.state === 'pending' || task.state === 'in_progress';
  if (task.state !== 'pending' && change.box === undefined) passed(task, news, fields);
  if (!open && has('stalled')) fields.stalled = undefined;
  const notified = fieldOf(task, 'notified');
  if (open && notified !== undefined && !('notified' in fields) && !isReopened(notified))
    fields.notified = `reopened ${timesTold(task)}`;
  if (!open && news.told === taskEnd(task) && notified !== news.told) fields.notified = news.told;
  if (!('parts_done' in fields)) ofParts(task, context, news, fields);
  const marks = idsIn(fieldOf(task, 'mentioned'));
  const woken = news.mentioned?.filter(mark => !marks.includes(mark)) ?? [];
  if (woken.length > 0) fields.mentioned = [...marks, ...woken].join(' ');
  return change;
}

/** Whom a note wakes is woken once: the task must be known by something for that. */
function namesAgent({notes}: Task, {isAgent}: TaskContext): boolean {
  return notes.some(({text, who}) => mentionedNames(text).some(name => name !== who && isAgent(name)));
}

/** What its creator is told of: how it ended, and which time it is that it did within one attempt, from 2 on. */
export function taskEnd(task: Task, state: TaskState = task.state): string {
  const notified = fieldOf(task, 'notified') ?? '';
  const nth = isReopened(notified) ? timesTold(task) + 1 : timesTold(task);
  return nth > 1 ? `${state} ${nth}` : state;
}

function timesTold(task: Task): number {
  return countIn(fieldOf(task, 'notified') ?? '');
}

/** Which time it is that all its parts are done, if its owner is yet to be told: each is another delivery. */
export function partsRound(task: Task): number | undefined {
  const told = fieldOf(task, 'parts_done');
  if (told === undefined) return 1;
  return isReopened(told) ? countIn(told) + 1 : undefined;
}

function countIn(told: string): number {
  const [, count] = told.split(' ');
  return Number(count ?? 1) || 1;
}

function isReopened(notified: string): boolean {
  return notified.startsWith('reopened');
}

/** It was delivered, is begun, or waits for a person to let it start. */
function waiting(task: Task, {delivered, begun, approval}: TaskNews, change: Missing): void {
  const {fields} = change;
  if (approval !== undefined && fieldOf(task, 'approval') !== approval) fields.approval = approval;
  if (delivered && (fieldOf(task, 'assigned') === undefined || fieldOf(task, 'session') !== delivered.session)) {
    if (fieldOf(task, 'assigned') === undefined) fields.assigned = delivered.at;
    fields.session = delivered.session;
    change.verb = 'delivery';
  }
  if (delivered && begun !== undefined) {
    change.box = '/';
    fields.started = begun;
    change.verb = 'start';
  }
}

/** An agent that is quick is done before it is written down that it began. */
function passed(task: Task, {delivered, begun}: TaskNews, fields: Record<string, string | undefined>): void {
  if (!delivered) return;
  if (fieldOf(task, 'assigned') === undefined) fields.assigned = delivered.at;
  if (fieldOf(task, 'session') === undefined) fields.session = delivered.session;
  if (fieldOf(task, 'started') === undefined && begun !== undefined) fields.started = begun;
}

const OF_AN_ATTEMPT = ['assigned', 'started', 'completed', 'session', 'approval', 'notified', 'parts_done', 'stalled'];

function setBack(task: Task, change: Missing, {isAgent}: TaskContext): void {
  for (const key of OF_AN_ATTEMPT) if (fieldOf(task, key) !== undefined) change.fields[key] = undefined;
  const {name = '', spawn} = assigneeOf(task);
  // An agent may have it, though that is not written down: a crash came before it, or a person's tick.
  const isOut = fieldOf(task, 'assigned') !== undefined || spawn || isAgent(name);
  if (isOut) change.fields.attempt = `${attemptOf(task) + 1}`;
  change.verb = 'set back';
}

function refuseStart({state, why}: NonNullable<TaskNews['refused']>, now: string, change: Missing): void {
  change.box = state === 'skipped' ? '-' : '!';
  change.note = {time: now, who: 'agentdir', text: why};
  // It is decided: whoever sets the task back is asked anew.
  change.fields.approval = undefined;
  change.verb = 'end';
}

/** It is in the session of somebody who is not to do it any more. */
function wentToAnother(task: Task, {ownerOf}: TaskContext): boolean {
  const session = fieldOf(task, 'session');
  const owner = session === undefined || fieldOf(task, 'assigned') === undefined ? undefined : ownerOf(session);
  const {name, spawn} = assigneeOf(task);
  return owner !== undefined && (owner.ephemeral !== spawn || (name !== undefined && owner.agent !== name));
}

function ofParts(task: Task, context: TaskContext, {partsTold}: TaskNews, fields: Missing['fields']): void {
  const told = fieldOf(task, 'parts_done');
  const round = partsRound(task);
  if (round !== undefined && partsTold !== undefined)
    fields.parts_done = round > 1 ? `${partsTold} ${round}` : partsTold;
  else if (told !== undefined && round === undefined && hasOpenParts(task, context))
    fields.parts_done = `reopened ${countIn(told)}`;
}

function hasOpenParts(task: Task, {partsOf}: TaskContext): boolean {
  return partsOf(fieldOf(task, 'id') ?? '').some(state => state !== 'completed' && state !== 'skipped');
}

function short(title: string): string {
  const line = title.replace(/\s+/g, ' ').trim();
  return line.length > 50 ? `${line.slice(0, 49)}…` : line;
}
