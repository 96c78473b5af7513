import type {SessionFact} from '../../check/session-facts.ts';
import type {TaskFact} from '../../check/task-facts.ts';
import type {CompletedFile} from '../../decide/complete.ts';
import {attemptKey, completeTasks} from '../../decide/task.ts';
import {dueOf, type TaskDue} from '../../decide/task-due.ts';
import {
  changedWords,
  endWords,
  mentionWords,
  partsWords,
  taskMessage,
  withdrawnWords,
} from '../../decide/task-words.ts';
import {blocks, unclearTasks, wrongTasks} from '../../formats/common/diagnostic.ts';
import {type Chain, chainIn, chainOfTask, longerChain} from '../../formats/session/chain.ts';
import {fieldOf, type Task, type TaskFile, type TaskState} from '../../formats/task/task.ts';
import {newTaskId} from '../../formats/task/task-id.ts';
import {parseTasks} from '../../formats/task/task-parse.ts';
import {timestamp} from '../../home/disk/clock.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {agentExists} from '../mail/agents.ts';
import {openSession, type Receiver, sessionOfAgent, sharedSession} from '../mail/receivers.ts';
import {plannedWriteOf} from '../state/completed-write.ts';
import type {Letter} from '../state/mail.ts';
import type {With} from '../state/parts.ts';
import {deliverTask, seekDelivery} from '../tasks/deliver-task.ts';
import {settleEdits} from '../tasks/task-edits.ts';
import {wakeTasks} from '../tasks/wake-tasks.ts';
import {followUpWaiting} from '../turns/at-work.ts';
import {closeSession} from '../turns/close-step.ts';
import {askToStart} from './task-start.ts';

/** Task files: writes agents' edits and missing fields, and acts on the tasks. */
export function taskReconciler(
  daemon: With<
    'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'inboxes' | 'tasks' | 'spend' | 'effects'
  >,
): Reconciler {
  return {
    kind: 'tasks',
    settle: ({path, parsed}) =>
      parsed?.kind === 'tasks' ? plannedWriteOf(settleTasks(daemon, path, parsed.file), 'fill-in') : undefined,
    finish: async ({path, parsed}) => parsed?.kind !== 'tasks' || !(await followTasks(daemon, path, parsed.file)),
    create: path => plannedWriteOf(settleEdits(daemon, path, parseTasks('')), 'fill-in'),
    accepted: ({path}) => followUpWaiting(daemon, path),
    removed: path => followUpWaiting(daemon, path),
    indexChanged: () => wakeTasks(daemon),
    isAtRest: () => false,
  };
}

/** Apply agents' edits; if there are none, fill in missing fields. */
function settleTasks(
  daemon: With<'files' | 'turns' | 'tasks'>,
  path: string,
  file: TaskFile,
): CompletedFile | undefined {
  const {files} = daemon;
  const edited = settleEdits(daemon, path, file);
  if (edited) return edited;
  for (const task of file.tasks) closeFormerSession(daemon, task);
  return completeTasks(file, {
    now: timestamp(files.disk.clock),
    newId: newTaskId,
    news: key => daemon.tasks.get(key),
    isAgent: name => agentExists(files, name),
    ownerOf: session => ownerOf(files, session),
    partsOf: id => partsOf(files, id),
    unclear: unclearTasks(files.index.problems(path)),
  });
}

/** Close the ephemeral session of a task that was reset. */
function closeFormerSession(daemon: With<'files' | 'turns'>, task: Task): void {
  const session = fieldOf(task, 'session');
  const isReset = task.state === 'pending' && ['started', 'completed'].some(key => fieldOf(task, key) !== undefined);
  if (isReset && session !== undefined && isEphemeral(daemon.files, session)) closeSession(daemon, session);
}

/** Start the due actions for the tasks of a file. Returns whether the next daemon must look at the file again. */
async function followTasks(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'tasks' | 'spend' | 'effects'>,
  path: string,
  file: TaskFile,
): Promise<boolean> {
  const {files, tasks} = daemon;
  const problems = files.index.problems(path);
  if (daemon.turns.stopped || blocks(problems)) return true;
  const due = dueOf(file, {
    stateOf: id => (files.index.definitionsOf(`task/${id}`)[0]?.state ?? undefined) as TaskState | undefined,
    isAgent: name => agentExists(files, name),
    partsOf: id => partsOf(files, id),
    ownerOf: session => ownerOf(files, session),
    news: key => tasks.get(key),
    isEphemeral: session => isEphemeral(files, session),
    wrong: wrongTasks(problems),
    unclear: unclearTasks(problems),
  });
  for (const task of file.tasks) forgetPast(daemon, task);
  for (const task of file.tasks) followUpResting(daemon, task);
  for (const each of due) await perform(daemon, path, each);
  const busy = new Set(due.map(each => ('key' in each ? each.key : undefined)));
  for (const task of file.tasks) {
    const key = task.state === 'completed' || task.state === 'skipped' ? attemptKey(task) : undefined;
    if (key === undefined || busy.has(key)) continue;
    tasks.forget(key);
    tasks.noteMissing(fieldOf(task, 'id') ?? '');
  }
  return due.length > 0 || file.tasks.some(task => isDelivered(task) || restingSession(files, task) !== undefined);
}

/**
 * Follow up the last answer of a resting session whose task just appeared in a file: when the session answered, no file
 * had the task.
 */
function followUpResting({files, tasks}: With<'files' | 'tasks'>, task: Task): void {
  const id = fieldOf(task, 'id');
  if (id === undefined || task.state !== 'in_progress' || !tasks.noteUnderWay(id)) return;
  const path = restingSession(files, task);
  if (path === undefined) return;
  tasks.askAgain.add(path);
  lookAgain(files, path);
}

/** The sleeping session of a task in progress, unless the task has stalled. */
function restingSession(files: HomeFiles, task: Task): string | undefined {
  if (task.state !== 'in_progress' || fieldOf(task, 'stalled') !== undefined) return undefined;
  const path = openSession(files, fieldOf(task, 'session'));
  return path !== undefined && files.index.facts(path)?.session?.status === 'sleeping' ? path : undefined;
}

/** Forget news that no longer applies, so that a repetition counts as new. */
function forgetPast({files, tasks}: With<'files' | 'tasks'>, task: Task): void {
  const key = attemptKey(task);
  const news = key === undefined ? undefined : tasks.get(key);
  if (key === undefined || !news) return;
  if (news.refused && task.state !== 'pending') tasks.addNews(key, {refused: undefined, approval: undefined});
  const isOpen = (state: TaskState) => state !== 'completed' && state !== 'skipped';
  if (news.partsTold !== undefined && partsOf(files, fieldOf(task, 'id') ?? '').some(isOpen))
    tasks.addNews(key, {partsTold: undefined});
}

/** Delivered but not begun: the next daemon must ask the session whether it has begun. */
function isDelivered(task: Task): boolean {
  return task.state === 'pending' && fieldOf(task, 'session') !== undefined;
}

async function perform(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'tasks' | 'spend' | 'effects'>,
  path: string,
  due: TaskDue,
): Promise<void> {
  switch (due.do) {
    case 'deliver':
      return deliverTask(daemon, path, due.task, due.key);
    case 'ask':
      return askToStart(daemon, path, due.task, due.key);
    case 'seek':
      return seekDelivery(daemon, path, due.task, due.key);
    case 'change':
      return notifyHolder(daemon, path, due);
    case 'withdraw':
      return notifyFormerHolder(daemon, path, due);
    case 'tell':
      return notifyCreator(daemon, path, due);
    case 'parts':
      return notifyOwner(daemon, path, due);
    case 'close':
      return closeSession(daemon, due.session);
    case 'mention':
      return wakeMentioned(daemon, path, due);
  }
}

/** A further change before the agent got the notice of the last one takes its place. */
function notifyHolder(
  daemon: With<'files' | 'mail' | 'tasks'>,
  path: string,
  {task, key, to, session, change}: Extract<TaskDue, {do: 'change'}>,
): void {
  const {files, mail, tasks} = daemon;
  const id = `${key} change ${change.informed}`;
  const before = tasks.notices.get(key);
  const waitsIn = before === undefined || before === id ? undefined : mail.destinationOf(before);
  if (before !== undefined && waitsIn !== undefined) mail.takeBack(waitsIn, before);
  tasks.notices.set(key, id);
  const byPerson = change.notes.length > 0 && !change.notes.some(({who}) => agentExists(files, who ?? ''));
  post(daemon, to, session, {
    id,
    message: taskMessage(task, changedWords(task, change), byPerson ? null : undefined),
    delivered: () => {
      tasks.addNews(key, {informed: change.informed});
      lookAgain(files, path);
    },
  });
}

function notifyFormerHolder(
  daemon: With<'files' | 'mail' | 'tasks'>,
  path: string,
  {task, key, entry, session, attempt}: Extract<TaskDue, {do: 'withdraw'}>,
): void {
  const {files, mail, tasks} = daemon;
  const delivered = () => {
    tasks.addNews(key, {withdrawn: [...(tasks.get(key)?.withdrawn ?? []), entry]});
    lookAgain(files, path);
  };
  const agent = ownerOf(files, session)?.agent;
  const to = openSession(files, session);
  // A session that is completed or gone works on nothing.
  if (agent === undefined || to === undefined) {
    delivered();
    return;
  }
  const id = `task/${fieldOf(task, 'id')}#${attempt} withdrawn`;
  mail.post(to, {id, agent, opening: {}, message: taskMessage(task, withdrawnWords(task)), delivered});
  lookAgain(files, to);
}

function notifyCreator(
  daemon: With<'files' | 'mail' | 'tasks'>,
  path: string,
  {task, key, end, to}: Extract<TaskDue, {do: 'tell'}>,
): void {
  post(daemon, to, fieldOf(task, 'created_in'), {
    id: `${key} ${end}`,
    message: taskMessage(task, endWords(task)),
    delivered: () => {
      daemon.tasks.addNews(key, {told: end});
      lookAgain(daemon.files, path);
    },
  });
}

function notifyOwner(
  daemon: With<'files' | 'mail' | 'tasks'>,
  path: string,
  due: Extract<TaskDue, {do: 'parts'}>,
): void {
  const {files} = daemon;
  const {task, key, count, round, to} = due;
  const session = fieldOf(task, 'session') ?? fieldOf(task, 'created_in');
  post(daemon, to, session, {
    id: round > 1 ? `${key} parts ${count} ${round}` : `${key} parts ${count}`,
    message: taskMessage(task, partsWords(task, count), longerChain(chainOfTask(task), chainOfParts(files, task))),
    delivered: () => {
      daemon.tasks.addNews(key, {partsTold: timestamp(files.disk.clock)});
      lookAgain(files, path);
    },
  });
}

function wakeMentioned(
  daemon: With<'files' | 'mail' | 'tasks'>,
  path: string,
  {task, key, mentions}: Extract<TaskDue, {do: 'mention'}>,
): void {
  const {files, tasks} = daemon;
  for (const {note, to, mark} of mentions)
    post(daemon, to, undefined, {
      id: `task/${fieldOf(task, 'id')} note ${mark} @${to}`,
      message: taskMessage(task, mentionWords(task, note), agentExists(files, note.who ?? '') ? undefined : null),
      delivered: () => {
        tasks.addNews(key, {mentioned: [...(tasks.get(key)?.mentioned ?? []), mark]});
        lookAgain(files, path);
      },
    });
}

/** Post to the given session if it is open and belongs to the agent, else to the agent's shared session. */
function post(
  {files, mail}: With<'files' | 'mail'>,
  agent: string,
  session: string | undefined,
  letter: Omit<Letter, 'agent' | keyof Receiver>,
): void {
  const {path, ...receiver} = sessionOfAgent(files, session, agent) ?? sharedSession(files, agent);
  mail.post(path, {...letter, agent, ...receiver});
  lookAgain(files, path);
}

function ownerOf({index}: HomeFiles, session: string): {agent: string; ephemeral: boolean} | undefined {
  const fact = sessionFact(index, session);
  return fact && {agent: fact.agent, ephemeral: fact.ephemeral === true};
}

function isEphemeral({index}: HomeFiles, session: string): boolean {
  const fact = sessionFact(index, session);
  return fact?.ephemeral === true && fact.status !== 'completed';
}

function sessionFact(index: HomeFiles['index'], session: string): SessionFact | undefined {
  const path = index.definitionsOf(`session/${session}`)[0]?.path;
  return path === undefined ? undefined : index.facts(path)?.session;
}

function partsOf(files: HomeFiles, id: string): TaskState[] {
  return [...partFacts(files, id)].map(({state}) => state);
}

/** The longest chain of the task's parts. */
function chainOfParts(files: HomeFiles, task: Task): Chain | undefined {
  let longest: Chain | undefined;
  for (const {chain} of partFacts(files, fieldOf(task, 'id') ?? '')) longest = longerChain(longest, chainIn(chain));
  return longest;
}

function* partFacts({index}: HomeFiles, id: string): Generator<TaskFact> {
  for (const path of id === '' ? [] : index.links.partsOf(id))
    for (const fact of index.facts(path)?.tasks ?? []) if ((fact.parent ?? fact.nested) === id) yield fact;
}
