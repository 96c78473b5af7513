import {makeVisible, visibleLine} from '../formats/common/visible.ts';
import {type Chain, chainOfTask} from '../formats/session/chain.ts';
import type {Message, TaskResult} from '../formats/session/session-schema.ts';
import {fieldOf, type Note, type Task, taintIn} from '../formats/task/task.ts';
import type {Assignment, TaskStatement} from './assignment.ts';
import {notesText} from './note-text.ts';
import type {UntoldChange} from './task-version.ts';

/** Marks messages about tasks, so that agents do not mistake them for a person's words. */
const MARK = '[AGENTDIR TASK]';
const LONGEST_TITLE = 200;
const ASSIGNED = `${MARK} You have been assigned a task:`;

/** For the assignee. `mayUpdate`: the agent has `update_task`. */
export function assignmentWords({id, said}: Assignment, mayUpdate: boolean): string {
  const of = (...as: TaskStatement['as'][]) => said.filter(each => as.includes(each.as));
  const details = of('details').map(({text}) => text);
  return lines([
    ASSIGNED,
    ...of('line', 'title').map(({as, label, text}) => `${label}: ${as === 'title' ? quoted(text) : visibleLine(text)}`),
    details.length > 0 && `Details:\n${fenced(details.join('\n\n'))}`,
    ...of('notes').map(({label, text}) => `${label}:\n${fenced(text)}`),
    !mayUpdate &&
      'Your final answer ends this task: it is kept as the result. If you cannot do it, begin the answer with "BLOCKED:" and say why.',
    mayUpdate &&
      `When it is done, call update_task with id "${id}", status "completed" and a note with the result. If you cannot do it, use status "blocked" and a note that says why.`,
  ]);
}

/** A task as its delivery message described it: quoted title, and the former id if the task was renamed. */
export interface DeliveredTask {
  title: string;
  before?: string;
}

export function assignmentIn(content: string): DeliveredTask | undefined {
  const [first = '', ...rest] = content.split('\n');
  const lineOf = (label: string) => rest.find(line => line.startsWith(label))?.slice(label.length);
  const title = first === ASSIGNED ? lineOf('Title: ') : RENAMED.exec(first)?.[1];
  const before = first === ASSIGNED ? undefined : lineOf('Id before: ');
  return title === undefined ? undefined : {title, ...(before !== undefined && {before})};
}

const RENAMED = /^\[AGENTDIR TASK\] Your task (".*") has another id now\. /;

/** For an assignee that has not begun, after a person changed the task's id. */
export function renamedWords(task: Task, before: {id: string; title: string}): string {
  const id = visibleLine(fieldOf(task, 'id') ?? '');
  return lines([
    `${MARK} Your task ${quoted(task.title)} has another id now. It is the same task, to be done once:`,
    `Id: ${id}`,
    `Id before: ${visibleLine(before.id)}`,
    before.title !== quoted(task.title) && `Title before: ${before.title}`,
  ]);
}

/** For an agent that ended its turn with the task still open. */
export function reminderWords(id: string, title: string): string {
  return lines([
    `${MARK} You ended your turn, but your task ${quoted(title)} is still open:`,
    `Id: ${visibleLine(id)}`,
    `If it is done, call update_task with id "${id}", status "completed" and a note with the result. If you cannot do it, use status "blocked" and a note that says why. If it is not done yet, go on with it. You are not reminded again.`,
  ]);
}

/** For an agent whose answer ended one of its tasks. */
export function nextTaskWords(id: string, title: string): string {
  return lines([
    `${MARK} Your answer is kept as the result of one task. Your next task is ${quoted(title)}:`,
    `Id: ${visibleLine(id)}`,
    'Do it now. Your next answer ends it, and no other. If you cannot do it, begin the answer with "BLOCKED:" and say why.',
  ]);
}

/** For the creator of a task that has ended. */
export function endWords(task: Task): string {
  const {names} = task;
  const who = names[0] ?? fieldOf(task, 'session');
  const result = fieldOf(task, 'result');
  return lines([
    `${MARK} Task ${task.state}: ${quoted(task.title)}`,
    `Id: ${visibleLine(fieldOf(task, 'id') ?? '')}`,
    who && `Assigned to: ${visibleLine(names[0] === undefined ? who : `@${who}`)}`,
    `Status: ${task.state.toUpperCase()}`,
    result && `Result:\n${fenced(result)}`,
    task.notes.length > 0 && `Recent notes:\n${fenced(notesText(task.notes))}`,
  ]);
}

/** For the owner of a task whose last part is done. */
export function partsWords(task: Task, count: number): string {
  return lines([
    `${MARK} All ${count === 1 ? 'parts (1)' : `${count} parts`} of your task ${quoted(task.title)} are done.`,
    `Id: ${visibleLine(fieldOf(task, 'id') ?? '')}`,
    'See their results with query_tasks, and complete the task if nothing is left to do.',
  ]);
}

/** For the agent that has a task in which others changed something. */
export function changedWords(task: Task, {content, notes}: UntoldChange): string {
  const value = (label: string, key: string) => {
    const text = fieldOf(task, key);
    return text && `${label}:\n${fenced(text)}`;
  };
  return lines([
    `${MARK} Your task ${quoted(task.title)} was changed:`,
    `Id: ${visibleLine(fieldOf(task, 'id') ?? '')}`,
    content && fieldOf(task, 'due') && `Due: ${visibleLine(fieldOf(task, 'due') ?? '')}`,
    content && value('Prompt', 'prompt'),
    content && value('Description', 'description'),
    content && value('Reason', 'reason'),
    content && value('Notes', 'notes'),
    notes.length > 0 && `New notes:\n${fenced(notesText(notes))}`,
    'Go on with it as it is now.',
  ]);
}

/** For an agent that does no longer have a task. */
export function withdrawnWords(task: Task): string {
  const [name] = task.names;
  const assign = fieldOf(task, 'assign');
  const now = assign ?? (name === undefined ? 'nobody' : `@${name}`);
  return lines([
    `${MARK} The task ${quoted(task.title)} is no longer yours. It is assigned to ${visibleLine(now)} now.`,
    `Id: ${visibleLine(fieldOf(task, 'id') ?? '')}`,
    'Stop working on it. You need not answer.',
  ]);
}

/** For an agent that a note mentions. */
export function mentionWords(task: Task, note: Note): string {
  return lines([
    `${MARK} ${note.who === undefined ? 'Somebody' : `@${visibleLine(note.who)}`} mentioned you in a note on the task ${quoted(task.title)}:`,
    `Id: ${visibleLine(fieldOf(task, 'id') ?? '')}`,
    fenced(note.text),
  ]);
}

/** For the session that gave a task to another and went on. */
export function delegationWords(agent: string, session: string, description: string, result: TaskResult): string {
  const {status, summary, artifacts, error, tool_calls, tokens_used, duration_seconds} = result;
  const first = description.trim().split('\n')[0] ?? '';
  return lines([
    `${MARK} The task that you gave @${visibleLine(agent)} has ended: ${quoted(first.slice(0, LONGEST_TITLE))}`,
    `Session: ${visibleLine(session)}`,
    `Status: ${status.toUpperCase()}`,
    error && `Error:\n${fenced(error)}`,
    summary && `Summary:\n${fenced(summary)}`,
    artifacts.length > 0 && `Files:\n${fenced(artifacts.join('\n'))}`,
    `It took ${tool_calls} calls, ${tokens_used} tokens and ${duration_seconds} s.`,
  ]);
}

export function quoted(title: string): string {
  return `"${visibleLine(title)}"`;
}

/** The text in a fence that it cannot close. */
function fenced(text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${makeVisible(text, false)}\n${fence}`;
}

function lines(parts: readonly (string | undefined | false | '')[]): string {
  return parts.filter(Boolean).join('\n');
}

/** A message about a task, with sender, priority, chain and taint. `chain`: null if a person caused it. */
export function taskMessage(
  task: Task,
  content: string,
  chain: Chain | null | undefined = chainOfTask(task),
): Pick<Message, 'from' | 'content'> & Partial<Message> {
  const taint = taintIn(task);
  return {
    from: `task/${fieldOf(task, 'id') ?? ''}`,
    content,
    ...(task.priority === 'A' && {priority: 'high' as const}),
    ...chain,
    ...(taint.length > 0 && {taint}),
  };
}
