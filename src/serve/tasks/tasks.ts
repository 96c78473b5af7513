import type {SessionFact} from '../../check/session-facts.ts';
import type {TaskFact} from '../../check/task-facts.ts';
import {type Chain, chainIn, chainOfTask, longer} from '../../files/chain.ts';
import {blocks} from '../../files/diagnostic.ts';
import {fieldOf, type Task, type TaskFile, type TaskState} from '../../files/task/task.ts';
import {newTaskId} from '../../files/task/task-id.ts';
import type {Completed} from '../../reconcile/complete.ts';
import {completeTasks, keyOf} from '../../reconcile/task.ts';
import {dueOf, type TaskDue} from '../../reconcile/task-due.ts';
import {endWords, mentionWords, messageOn, partsWords} from '../../reconcile/task-words.ts';
import {timestamp} from '../../store/clock.ts';
import {lookAgain} from '../look-again.ts';
import {isAgent} from '../mail/agents.ts';
import type {Letter} from '../mail/mail.ts';
import {openSession, ownSession, type Receiver, sharedSession} from '../mail/receivers.ts';
import type {Serving} from '../serving.ts';
import {closeSession} from '../turns/close-step.ts';
import {deliverTask} from './deliver-task.ts';
import {settleEdits} from './task-edits.ts';
import {askToStart} from './task-start.ts';

/** A task file with what agents changed in it; else with what is missing. */
export function settleTasks(serving: Serving, path: string, file: TaskFile): Completed | undefined {
  const edited = settleEdits(serving, path, file);
  if (edited) return edited;
  for (const task of file.tasks) leaveSession(serving, task);
  return completeTasks(file, {
    now: timestamp(serving.clock),
    newId: newTaskId,
    news: key => serving.tasks.get(key),
    isAgent: name => isAgent(serving, name),
    ownerOf: session => ownerOf(serving, session),
    partsOf: id => partsOf(serving, id),
  });
}

/** Who was made for a try at a task goes with it, also if the task is set back. */
function leaveSession(serving: Serving, task: Task): void {
  const session = fieldOf(task, 'session');
  const isBack = task.state === 'pending' && ['started', 'completed'].some(key => fieldOf(task, key) !== undefined);
  if (isBack && session !== undefined && isEphemeral(serving, session)) closeSession(serving, session);
}

/** Begin what follows from the tasks of a file as it is. Whether something is left that the next daemon has to look at. */
export async function followTasks(serving: Serving, path: string, file: TaskFile): Promise<boolean> {
  if (serving.turns.stopped || blocks(serving.index.problems(path))) return true;
  const due = dueOf(file, {
    stateOf: id => (serving.index.definitionsOf(`task/${id}`)[0]?.state ?? undefined) as TaskState | undefined,
    isAgent: name => isAgent(serving, name),
    partsOf: id => partsOf(serving, id),
    news: key => serving.tasks.get(key),
    isEphemeral: session => isEphemeral(serving, session),
  });
  for (const task of file.tasks) forgetPast(serving, task);
  for (const task of file.tasks) askWhetherOver(serving, task);
  for (const each of due) await perform(serving, path, each);
  const busy = new Set(due.map(each => ('key' in each ? each.key : undefined)));
  for (const task of file.tasks) {
    const key = task.state === 'completed' || task.state === 'skipped' ? keyOf(task) : undefined;
    if (key === undefined || busy.has(key)) continue;
    serving.tasks.forget(key);
    serving.tasks.miss(fieldOf(task, 'id') ?? '');
  }
  return due.length > 0 || file.tasks.some(task => isDelivered(task) || restingSession(serving, task) !== undefined);
}

/**
 * What an answer leaves to do about a task is said with the answer, unless no file had the task just then. Once it is there, a
 * session that is at rest is asked.
 */
function askWhetherOver(serving: Serving, task: Task): void {
  const id = fieldOf(task, 'id');
  if (id === undefined || task.state !== 'in_progress' || !serving.tasks.meet(id)) return;
  const path = restingSession(serving, task);
  if (path === undefined) return;
  serving.tasks.unsure.add(path);
  lookAgain(serving, path);
}

/** The session that has it, if that has nothing to do and nobody says that the task stands still. */
function restingSession(serving: Serving, task: Task): string | undefined {
  if (task.state !== 'in_progress' || fieldOf(task, 'stalled') !== undefined) return undefined;
  const path = openSession(serving, fieldOf(task, 'session'));
  return path !== undefined && serving.index.facts(path)?.session?.status === 'sleeping' ? path : undefined;
}

/** What was heard of a task and is over: if it comes again it is another time. */
function forgetPast(serving: Serving, task: Task): void {
  const key = keyOf(task);
  const news = key === undefined ? undefined : serving.tasks.get(key);
  if (key === undefined || !news) return;
  if (news.refused && task.state !== 'pending') serving.tasks.add(key, {refused: undefined, approval: undefined});
  const isOpen = (state: TaskState) => state !== 'completed' && state !== 'skipped';
  if (news.partsTold !== undefined && partsOf(serving, fieldOf(task, 'id') ?? '').some(isOpen))
    serving.tasks.add(key, {partsTold: undefined});
}

/** It waits for its agent to begin: whether it has, the session knows, and the next daemon asks it. */
function isDelivered(task: Task): boolean {
  return task.state === 'pending' && fieldOf(task, 'session') !== undefined;
}

async function perform(serving: Serving, path: string, due: TaskDue): Promise<void> {
  switch (due.do) {
    case 'deliver':
      return deliverTask(serving, path, due.task, due.key);
    case 'ask':
      return askToStart(serving, path, due.task, due.key);
    case 'tell':
      return tellCreator(serving, path, due);
    case 'parts':
      return tellOwner(serving, path, due);
    case 'close':
      return closeSession(serving, due.session);
    case 'mention':
      return wakeMentioned(serving, path, due);
  }
}

function tellCreator(serving: Serving, path: string, {task, key, end, to}: Extract<TaskDue, {do: 'tell'}>): void {
  post(serving, to, fieldOf(task, 'created_in'), {
    id: `${key} ${end}`,
    message: messageOn(task, endWords(task)),
    delivered: () => {
      serving.tasks.add(key, {told: end});
      lookAgain(serving, path);
    },
  });
}

function tellOwner(serving: Serving, path: string, due: Extract<TaskDue, {do: 'parts'}>): void {
  const {task, key, count, round, to} = due;
  const session = fieldOf(task, 'session') ?? fieldOf(task, 'created_in');
  post(serving, to, session, {
    id: round > 1 ? `${key} parts ${count} ${round}` : `${key} parts ${count}`,
    message: messageOn(task, partsWords(task, count), longer(chainOfTask(task), chainOfParts(serving, task))),
    delivered: () => {
      serving.tasks.add(key, {partsTold: timestamp(serving.clock)});
      lookAgain(serving, path);
    },
  });
}

function wakeMentioned(serving: Serving, path: string, {task, key, mentions}: Extract<TaskDue, {do: 'mention'}>): void {
  for (const {note, to, mark} of mentions)
    post(serving, to, undefined, {
      id: `task/${fieldOf(task, 'id')} note ${mark} @${to}`,
      message: messageOn(task, mentionWords(task, note), isAgent(serving, note.who ?? '') ? undefined : null),
      delivered: () => {
        serving.tasks.add(key, {mentioned: [...(serving.tasks.get(key)?.mentioned ?? []), mark]});
        lookAgain(serving, path);
      },
    });
}

/** To the session named, if it is there and the agent's; else to the one that the agent's deliveries go to. */
function post(
  serving: Serving,
  agent: string,
  session: string | undefined,
  letter: Omit<Letter, 'agent' | keyof Receiver>,
): void {
  const {path, ...receiver} = ownSession(serving, session, agent) ?? sharedSession(serving, agent);
  serving.mail.post(path, {...letter, agent, ...receiver});
  lookAgain(serving, path);
}

function ownerOf({index}: Serving, session: string): {agent: string; ephemeral: boolean} | undefined {
  const fact = sessionFact(index, session);
  return fact && {agent: fact.agent, ephemeral: fact.ephemeral === true};
}

function isEphemeral({index}: Serving, session: string): boolean {
  const fact = sessionFact(index, session);
  return fact?.ephemeral === true && fact.status !== 'completed';
}

function sessionFact(index: Serving['index'], session: string): SessionFact | undefined {
  const path = index.definitionsOf(`session/${session}`)[0]?.path;
  return path === undefined ? undefined : index.facts(path)?.session;
}

function partsOf(serving: Serving, id: string): TaskState[] {
  return [...partFacts(serving, id)].map(({state}) => state);
}

/** The longest of what led to any of its parts. */
function chainOfParts(serving: Serving, task: Task): Chain | undefined {
  let longest: Chain | undefined;
  for (const {chain} of partFacts(serving, fieldOf(task, 'id') ?? '')) longest = longer(longest, chainIn(chain));
  return longest;
}

function* partFacts({index}: Serving, id: string): Generator<TaskFact> {
  for (const path of id === '' ? [] : index.links.partsOf(id))
    for (const fact of index.facts(path)?.tasks ?? []) if ((fact.parent ?? fact.nested) === id) yield fact;
}
