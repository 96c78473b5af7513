import type {SessionFact} from '../../check/session-facts.ts';
import type {TaskFact} from '../../check/task-facts.ts';
import type {CompletedFile} from '../../decide/complete.ts';
import {attemptKey, completeTasks} from '../../decide/task.ts';
import {dueOf, type TaskDue} from '../../decide/task-due.ts';
import {endWords, mentionWords, partsWords, taskMessage} from '../../decide/task-words.ts';
import {blocks} from '../../formats/common/diagnostic.ts';
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
import {deliverTask} from '../tasks/deliver-task.ts';
import {settleEdits} from '../tasks/task-edits.ts';
import {wakeTasks} from '../tasks/wake-tasks.ts';
import {closeSession} from '../turns/close-step.ts';
import {askToStart} from './task-start.ts';

/** Task files: what agents change in them, what a person left out, and what is to be done about their tasks. */
export function taskReconciler(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'inboxes' | 'tasks' | 'effects'>,
): Reconciler {
  return {
    kind: 'tasks',
    settle: ({path, parsed}) =>
      parsed?.kind === 'tasks' ? plannedWriteOf(settleTasks(daemon, path, parsed.file), 'fill-in') : undefined,
    finish: async ({path, parsed}) => parsed?.kind !== 'tasks' || !(await followTasks(daemon, path, parsed.file)),
    create: path => plannedWriteOf(settleEdits(daemon, path, parseTasks('')), 'fill-in'),
    indexChanged: () => wakeTasks(daemon),
    isAtRest: () => false,
  };
}

/** A task file with what agents changed in it; else with what is missing. */
function settleTasks(
  daemon: With<'files' | 'turns' | 'tasks'>,
  path: string,
  file: TaskFile,
): CompletedFile | undefined {
  const {files} = daemon;
  const edited = settleEdits(daemon, path, file);
  if (edited) return edited;
  for (const task of file.tasks) leaveSession(daemon, task);
  return completeTasks(file, {
    now: timestamp(files.disk.clock),
    newId: newTaskId,
    news: key => daemon.tasks.get(key),
    isAgent: name => agentExists(files, name),
    ownerOf: session => ownerOf(files, session),
    partsOf: id => partsOf(files, id),
  });
}

/** Who was made for a try at a task goes with it, also if the task is set back. */
function leaveSession(daemon: With<'files' | 'turns'>, task: Task): void {
  const session = fieldOf(task, 'session');
  const isBack = task.state === 'pending' && ['started', 'completed'].some(key => fieldOf(task, key) !== undefined);
  if (isBack && session !== undefined && isEphemeral(daemon.files, session)) closeSession(daemon, session);
}

/** Begin what follows from the tasks of a file as it is. Whether something is left that the next daemon has to look at. */
async function followTasks(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'tasks' | 'effects'>,
  path: string,
  file: TaskFile,
): Promise<boolean> {
  const {files, tasks} = daemon;
  if (daemon.turns.stopped || blocks(files.index.problems(path))) return true;
  const due = dueOf(file, {
    stateOf: id => (files.index.definitionsOf(`task/${id}`)[0]?.state ?? undefined) as TaskState | undefined,
    isAgent: name => agentExists(files, name),
    partsOf: id => partsOf(files, id),
    news: key => tasks.get(key),
    isEphemeral: session => isEphemeral(files, session),
  });
  for (const task of file.tasks) forgetPast(daemon, task);
  for (const task of file.tasks) askWhetherOver(daemon, task);
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
 * What an answer leaves to do about a task is said with the answer, unless no file had the task just then. Once it is there, a
 * session that is at rest is asked.
 */
function askWhetherOver({files, tasks}: With<'files' | 'tasks'>, task: Task): void {
  const id = fieldOf(task, 'id');
  if (id === undefined || task.state !== 'in_progress' || !tasks.noteUnderWay(id)) return;
  const path = restingSession(files, task);
  if (path === undefined) return;
  tasks.askAgain.add(path);
  lookAgain(files, path);
}

/** The session that has it, if that has nothing to do and nobody says that the task stands still. */
function restingSession(files: HomeFiles, task: Task): string | undefined {
  if (task.state !== 'in_progress' || fieldOf(task, 'stalled') !== undefined) return undefined;
  const path = openSession(files, fieldOf(task, 'session'));
  return path !== undefined && files.index.facts(path)?.session?.status === 'sleeping' ? path : undefined;
}

/** What was heard of a task and is over: if it comes again it is another time. */
function forgetPast({files, tasks}: With<'files' | 'tasks'>, task: Task): void {
  const key = attemptKey(task);
  const news = key === undefined ? undefined : tasks.get(key);
  if (key === undefined || !news) return;
  if (news.refused && task.state !== 'pending') tasks.addNews(key, {refused: undefined, approval: undefined});
  const isOpen = (state: TaskState) => state !== 'completed' && state !== 'skipped';
  if (news.partsTold !== undefined && partsOf(files, fieldOf(task, 'id') ?? '').some(isOpen))
    tasks.addNews(key, {partsTold: undefined});
}

/** It waits for its agent to begin: whether it has, the session knows, and the next daemon asks it. */
function isDelivered(task: Task): boolean {
  return task.state === 'pending' && fieldOf(task, 'session') !== undefined;
}

async function perform(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'tasks' | 'effects'>,
  path: string,
  due: TaskDue,
): Promise<void> {
  switch (due.do) {
    case 'deliver':
      return deliverTask(daemon, path, due.task, due.key);
    case 'ask':
      return askToStart(daemon, path, due.task, due.key);
    case 'tell':
      return tellCreator(daemon, path, due);
    case 'parts':
      return tellOwner(daemon, path, due);
    case 'close':
      return closeSession(daemon, due.session);
    case 'mention':
      return wakeMentioned(daemon, path, due);
  }
}

function tellCreator(
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

function tellOwner(daemon: With<'files' | 'mail' | 'tasks'>, path: string, due: Extract<TaskDue, {do: 'parts'}>): void {
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

/** To the session named, if it is there and the agent's; else to the one that the agent's deliveries go to. */
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

/** The longest of what led to any of its parts. */
function chainOfParts(files: HomeFiles, task: Task): Chain | undefined {
  let longest: Chain | undefined;
  for (const {chain} of partFacts(files, fieldOf(task, 'id') ?? '')) longest = longerChain(longest, chainIn(chain));
  return longest;
}

function* partFacts({index}: HomeFiles, id: string): Generator<TaskFact> {
  for (const path of id === '' ? [] : index.links.partsOf(id))
    for (const fact of index.facts(path)?.tasks ?? []) if ((fact.parent ?? fact.nested) === id) yield fact;
}
