import {attemptKey} from '../../decide/task.ts';
import {waitsForPerson} from '../../decide/task-gate.ts';
import {withHeader} from '../../decide/turn.ts';
import type {ToolResult} from '../../effects/tool/tool.ts';
import {stemOf} from '../../formats/common/key.ts';
import {chainOf} from '../../formats/session/chain.ts';
import type {Session} from '../../formats/session/session.ts';
import type {Task, TaskFile} from '../../formats/task/task.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {type TaskChange, updateTask} from '../../formats/task/task-edit.ts';
import {timestamp} from '../../home/disk/clock.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {SessionStep} from '../sessions/step.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import type {EditedTaskFile} from '../state/task-news.ts';
import {gateContext} from '../tasks/gate-context.ts';
import {requestTaskEdit} from '../tasks/task-edits.ts';
import {taskChangeFor} from '../tasks/update-task.ts';
import type {DueTask} from './after-answer.ts';

/** Longer answers are cut in the task file; the full text is in the session. */
const LONGEST_NOTE = 2_000;
const AGAIN_MS = 2_000;

/** Write the session's due task changes to the task files, and clear those that are written. */
export function endStep(
  daemon: With<'files' | 'reports' | 'tasks'>,
  caller: Caller,
  session: Session,
  now: string,
): SessionStep | undefined {
  const {tasks} = daemon;
  const due = session.header?.tasks_due ?? [];
  if (due.length === 0) return undefined;
  const {path} = caller;
  const progress = tasks.ending.get(path) ?? new Map<string, 'under way' | 'over'>();
  const open = due.filter(each => progress.get(idOf(each)) !== 'over');
  if (open.length < due.length)
    return {
      session: withHeader(session, {tasks_due: open.length > 0 ? open : undefined}, now),
      entry: {words: 'its tasks say what it answered', cause: 'task', agent: caller.agent},
      done: () => void (open.length === 0 && tasks.ending.delete(path)),
    };
  tasks.ending.set(path, progress);
  for (const each of open) {
    if (progress.has(idOf(each))) continue;
    progress.set(idOf(each), 'under way');
    void writeTask(daemon, {...caller, of: session}, each).then(({success}) => {
      if (success) progress.set(idOf(each), 'over');
      else progress.delete(idOf(each));
      // Retry: a task file that cannot be written is reported elsewhere.
      lookAgain(daemon.files, path, success ? 0 : AGAIN_MS);
    });
  }
  return undefined;
}

function idOf({task, as}: DueTask): string {
  return `${task} ${as}`;
}

async function writeTask(
  daemon: With<'files' | 'reports' | 'tasks'>,
  caller: Caller,
  due: DueTask,
): Promise<ToolResult> {
  const {files} = daemon;
  const id = /^task\/(.+)#\d+$/.exec(due.task)?.[1] ?? '';
  const path = files.index.definitionsOf(`task/${id}`)[0]?.path;
  if (path === undefined) return {success: true};
  const make = (file: TaskFile): EditedTaskFile | undefined => {
    const task = file.tasks.find(each => attemptKey(each) === due.task);
    // A task that waits for a person has the id of one that was delivered before.
    const mayEnd = task && isOpen(task) && !waitsForPerson(task, gateContext(files));
    const change = mayEnd ? changeFor(task, caller, due, timestamp(files.disk.clock)) : undefined;
    if (!task || !change) return undefined;
    const words = `${due.as === 'stalled' ? 'left standing' : due.as}: "${task.title.replace(/\s+/g, ' ').slice(0, 60)}"`;
    return {text: updateTask(file, task, change), words, tasks: [id]};
  };
  return requestTaskEdit(daemon, path, caller.agent, make, () => ({success: true}));
}

/** In progress or about to start, and not reset by a person. */
function isOpen(task: Task): boolean {
  if (task.state === 'in_progress') return true;
  return task.state === 'pending' && ['started', 'completed'].every(key => fieldOf(task, key) === undefined);
}

function changeFor(task: Task, caller: Caller, {answer, as}: DueTask, now: string): TaskChange | undefined {
  if (as === 'stalled') return fieldOf(task, 'stalled') === undefined ? {fields: {stalled: answer}} : undefined;
  const {messages} = caller.of;
  const at = messages.findLastIndex(({role, timestamp}) => role === 'assistant' && timestamp === answer);
  const of = {...caller.of, messages: messages.slice(0, at + 1)};
  const note = shortened(messages[at]?.content ?? '', caller.session);
  const chain = chainOf(of.messages, stemOf(caller.path));
  return taskChangeFor(task, {...caller, of}, {status: as, note}, {time: answer, now, chain});
}

function shortened(text: string, session: string): string {
  if (text.length <= LONGEST_NOTE) return text;
  return `${text.slice(0, LONGEST_NOTE).replace(/[\ud800-\udbff]$/, '')}… (all of it is in ${session})`;
}
