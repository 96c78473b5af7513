import {parseApproval} from '../approval/approval.ts';
import {hasErrors} from '../common/diagnostic.ts';
import type {Kind} from '../common/key.ts';
import {isMap} from '../common/values.ts';
import {makeVisible} from '../common/visible.ts';
import {cutText} from '../session/session.ts';
import {type Box, fieldOf, stateOfBox, type Task, type TaskFile, type TaskState} from '../task/task.ts';
import {matchTasks} from '../task/task-match.ts';
import {parseTasks} from '../task/task-parse.ts';
import {readQuickly} from '../yaml/yaml-quick.ts';
import {type TaskChanges, taskChanges} from './merge-task-changes.ts';
import {type MessagePart, matchMessages} from './message-match.ts';

export interface EditWords {
  /** Short description for a commit subject. */
  words: string;
  /** Ids of affected tasks or requests, at most 20. */
  tasks: string[];
}

const MOST_TASKS = 20;

/** A session's text, split at its messages. */
export interface CutSession {
  head: string;
  foot: string;
  items: readonly {text: string}[];
}

/** Parsers; callers pass their own to reuse results. */
export interface EditReaders {
  tasksIn: (text: string) => TaskFile;
  cutIn: (text: string) => CutSession | undefined;
}

/** Describe a person's edit; 'edited' if unclear. `queue`: the file is the approval queue. Must not throw. */
export function describeEdit(
  kind: Kind,
  before: string | undefined,
  now: string,
  queue = false,
  {tasksIn, cutIn}: EditReaders = {tasksIn: parseTasks, cutIn: cutSession},
): EditWords {
  if (before === undefined) return {words: createdAs(kind, now), tasks: []};
  try {
    if (kind === 'tasks') return tasksEdit(tasksIn(before), tasksIn(now), queue);
    if (kind === 'session') return {words: sessionEdit(before, now, cutIn) || 'edited', tasks: []};
    if (kind === 'approval') return {words: approvalEdit(before, now), tasks: []};
  } catch {
    // A text with errors does not show what was meant.
  }
  return {words: 'edited', tasks: []};
}

export function cutSession(text: string): CutSession | undefined {
  const cut = cutText(text);
  return cut && {...cut, items: cut.items.map(item => ({text: item}))};
}

function createdAs(kind: Kind, now: string): string {
  const {forked_from: from} =
    kind === 'session' && now.includes('forked_from:') ? headerOf(cutText(now)?.head ?? now) : {};
  return isMap(from) ? `forked from ${short(String(from.session))}` : 'created';
}

const boxWords: Record<TaskState, string> = {
  completed: 'ticked',
  pending: 'set back',
  in_progress: 'began',
  skipped: 'rejected',
  blocked: 'blocked',
};

/** In the queue a box is a decision. */
const decisionWords: Record<TaskState, string> = {...boxWords, completed: 'approved', in_progress: 'left unclear'};

function tasksEdit(before: TaskFile, now: TaskFile, queue: boolean): EditWords {
  if (hasErrors(before.problems) || hasErrors(now.problems)) return {words: 'edited', tasks: []};
  const match = matchTasks(before, now);
  const touched: Task[] = [];
  const deeds = new Map<string, Task[]>();
  const did = (deed: string, task: Task) => {
    touched.push(task);
    const same = deeds.get(deed);
    if (same) same.push(task);
    else deeds.set(deed, [task]);
  };
  for (const [j, task] of now.tasks.entries()) {
    const old = before.tasks[match.from[j] as number];
    if (!old) did('added', task);
    else if (linesOf(before, old) !== linesOf(now, task)) {
      const deed = deedOf(taskChanges(old, task), queue);
      if (deed) did(deed, task);
    }
  }
  for (const [i, task] of before.tasks.entries()) if (match.to[i] === -1) did('removed', task);
  const words = [...deeds].map(([deed, tasks]) =>
    tasks.length === 1
      ? `${deed} ${nameOf(tasks[0], queue)}`
      : `${tasks.length} ${queue ? 'requests' : 'tasks'} ${deed}`,
  );
  const ids = touched.map(task => fieldOf(task, 'id')).filter(id => id !== undefined);
  return {words: few(words), tasks: [...new Set(ids)].slice(0, MOST_TASKS)};
}

/** Requests are referred to by id. */
function nameOf(task: Task | undefined, queue: boolean): string {
  const id = queue && task ? fieldOf(task, 'id') : undefined;
  return id === undefined ? `"${short(task?.title ?? '')}"` : short(id);
}

function linesOf({text}: TaskFile, task: Task): string {
  return text.slice(task.start, task.children[0]?.start ?? task.end);
}

function deedOf({box, fields, notes, head}: TaskChanges, queue: boolean): string | undefined {
  if (box !== undefined) return (queue ? decisionWords : boxWords)[stateOfBox[box as Box]];
  if (notes.length > 0 && fields.length === 0 && !head) return 'noted';
  return 'edited';
}

function sessionEdit(before: string, now: string, cutIn: EditReaders['cutIn']): string {
  const [old, cut] = [cutIn(before), cutIn(now)];
  const was = headerOf(old?.head ?? before, old?.foot);
  const sameHeader = old && old.head === cut?.head && old.foot === cut.foot;
  const is = sameHeader ? was : headerOf(cut?.head ?? now, cut?.foot);
  const words: string[] = [];
  if (was.status !== is.status && typeof is.status === 'string') words.push(`status ${short(is.status)}`);
  if (!cut) return few(words);
  // Most edits append to a conversation, which may be long.
  let same = 0;
  while (same < cut.items.length && old?.items[same]?.text === cut.items[same]?.text) same++;
  const [from, to] = [parts(old?.items.slice(same) ?? []), parts(cut.items.slice(same))];
  const match = matchMessages(from, to);
  const added: string[] = [];
  let edited = 0;
  for (const [j, part] of to.entries()) {
    const before = from[match.from[j] as number];
    if (!before) added.push(String(part.value().role));
    else if (before.text.trimEnd() !== part.text.trimEnd()) edited++;
  }
  const removed = match.to.filter(index => index === -1).length;
  if (added.length === 1) words.push(`${short(added[0] ?? '')} message`);
  else if (added.length > 1) words.push(`${added.length} messages`);
  if (edited > 0) words.push(`${plural(edited, 'message')} edited`);
  if (removed > 0) words.push(`${plural(removed, 'message')} removed`);
  if (words.length > 0) return few(words);
  const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  return few(
    keys.filter(key => JSON.stringify(was[key]) !== JSON.stringify(is[key])).map(key => `${short(key)} edited`),
  );
}

function headerOf(head: string, foot = ''): Record<string, unknown> {
  const {value} = readQuickly(head + foot);
  return isMap(value) ? {...value, messages: undefined} : {};
}

function parts(items: readonly {text: string}[]): MessagePart[] {
  return items.map(({text}) => ({
    text,
    value: () => {
      const {value} = readQuickly(text);
      return Array.isArray(value) && isMap(value[0]) ? value[0] : {};
    },
  }));
}

function approvalEdit(before: string, now: string): string {
  const [was, is] = [parseApproval(before).review?.decision, parseApproval(now).review?.decision];
  return is !== undefined && is !== was ? is : 'edited';
}

function plural(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

/** Limit to what fits a subject line. */
function few(words: readonly string[]): string {
  if (words.length === 0) return 'edited';
  return words.length > 2 ? `${words.slice(0, 2).join(', ')} and more` : words.join(', ');
}

function short(words: string): string {
  const line = makeVisible(words).replace(/\s+/g, ' ').trim();
  return line.length > 40 ? `${line.slice(0, 39).trimEnd()}…` : line;
}
