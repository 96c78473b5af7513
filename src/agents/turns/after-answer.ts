import {isOpenState, type TaskFact} from '../../check/task-facts.ts';
import {awaitedNames, deliveredTasks, nextTaskOf, reminderOf} from '../../decide/awaited.ts';
import {reportedFailure} from '../../decide/delegation.ts';
import {nextTaskWords, reminderWords} from '../../decide/task-words.ts';
import {isCancelled, mayWork, nextAction, nextSessionAction, withHeader} from '../../decide/turn.ts';
import type {Session} from '../../formats/session/session.ts';
import {insertMessage} from '../../formats/session/session-edit.ts';
import type {Message, SessionHeader} from '../../formats/session/session-schema.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {toolNamed} from '../../policy/tools.ts';
import {receiverFor} from '../mail/send.ts';
import {openTask} from '../sessions/open-task.ts';
import type {SessionStep} from '../sessions/step.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {tasksCreated} from './at-work.ts';
import {sessionThatMayAnswer} from './may-answer.ts';

export type DueTask = NonNullable<SessionHeader['tasks_due']>[number];

/** An open task, by the key of its delivery. */
interface StandingTask {
  key: string;
  task: TaskFact;
}

/** Work on a session's open tasks that follows from its final answer. */
export interface AnswerFollowUp {
  /** Reminds the agent of one task at a time, once for each attempt. */
  reminder?: Message;
  /** Changes to write to the task files. */
  due?: DueTask[];
}

/**
 * Decide what a final answer means for the session's open tasks. An agent without `update_task` ends its tasks by
 * answering, one after the other. An agent that has `update_task` and did not call it is reminded; if it waits for others, nothing happens.
 *
 * `at` is the index of the answer; messages after it arrived meanwhile. `named` lists the agents that the answer
 * mentions and that have not received the mention yet.
 */
export async function followUpAnswer(
  daemon: With<'files' | 'mail' | 'tasks'>,
  caller: Caller,
  messages: readonly Message[],
  at: number,
  named: readonly string[],
): Promise<AnswerFollowUp> {
  const of = {...caller.of, messages: messages.slice(0, at + 1)};
  const standing = await standingTasks(daemon, {...caller, of}, named);
  const answer = messages[at]?.timestamp ?? '';
  if (standing.length === 0) return {};
  const deliveries = new Set(messages.map(({delivery}) => delivery));
  if (!caller.template.capabilities.some(name => toolNamed(name) === 'update_task'))
    return endByAnswer(of, standing, deliveries, answer);
  if (nextAction(messages).do !== 'rest') return {};
  const next = standing.find(({key}) => !deliveries.has(reminderOf(key)));
  if (next)
    return {
      reminder: {
        timestamp: answer,
        role: 'user',
        from: 'system',
        content: reminderWords(next.task.id ?? '', next.task.title ?? ''),
        delivery: reminderOf(next.key),
      },
    };
  const notStalled = standing.filter(({task}) => task.stalled === undefined);
  return {due: notStalled.map(({key}) => ({task: key, answer, as: 'stalled'}))};
}

/** An answer ends one task: the one that the agent was reminded of, else the first. Then the next one is due. */
function endByAnswer(
  {header, messages}: Session,
  standing: readonly StandingTask[],
  deliveries: ReadonlySet<string | undefined>,
  answer: string,
): AnswerFollowUp {
  const reported = new Set((header?.tasks_due ?? []).map(({task}) => task));
  const open = standing.filter(({key}) => !reported.has(key));
  const asked = messages.findLast(({role}) => role === 'user')?.delivery;
  const ended = open.find(({key}) => nextTaskOf(key) === asked) ?? open[0];
  if (!ended) return {};
  const failed = reportedFailure(messages.at(-1)?.content ?? '') !== undefined;
  const next = open.find(each => each !== ended && !deliveries.has(nextTaskOf(each.key)));
  return {
    due: [{task: ended.key, answer, as: failed ? 'blocked' : 'completed'}],
    ...(next && {
      reminder: {
        ...{timestamp: answer, role: 'user', from: 'system', delivery: nextTaskOf(next.key)},
        content: nextTaskWords(next.task.id ?? '', next.task.title ?? ''),
      },
    }),
  };
}

/** Follow up the answer of a session at rest whose task was in no file, or that waited for a reply, when it answered. */
export async function followUpStep(
  daemon: With<'files' | 'mail' | 'tasks'>,
  caller: Caller,
  session: Session,
  now: string,
): Promise<SessionStep | undefined> {
  const {askAgain} = daemon.tasks;
  const {header, messages} = session;
  if (!askAgain.has(caller.path) || !mayWork(header) || nextSessionAction(session).do !== 'rest') return undefined;
  if (isCancelled(session)) return undefined;
  const done = () => void askAgain.delete(caller.path);
  // A session that comes to rest during this follow-up asks for another one.
  done();
  const at = messages.findLastIndex(({role}) => role === 'assistant');
  const named = (header?.mentions_due ?? []).map(({to}) => to);
  const {reminder, due = []} = at === -1 ? {} : await followUpAnswer(daemon, caller, messages, at, named);
  const again = () => void askAgain.add(caller.path);
  const recorded = header?.tasks_due ?? [];
  const added = due.filter(({task}) => recorded.every(each => each.task !== task));
  if (reminder) {
    again();
    const result = insertMessage(session, messages.length, {...reminder, timestamp: now});
    const tasks = added.length > 0 && {tasks_due: [...recorded, ...added]};
    return {
      session: withHeader(result, {status: 'active', ...tasks}, now),
      entry: {words: 'reminded of a task', cause: 'delivery'},
      done,
    };
  }
  if (added.length > 0) {
    again();
    return {
      session: withHeader(session, {tasks_due: [...recorded, ...added]}, now),
      entry: {words: 'its tasks are to say what it answered', cause: 'task', agent: caller.agent},
      done,
    };
  }
  return undefined;
}

/**
 * Open tasks on which the session waits for nobody: not for subtasks, not for tasks it created after receiving them, and
 * not for a reply.
 */
async function standingTasks(
  daemon: With<'files' | 'mail' | 'tasks'>,
  caller: Caller,
  named: readonly string[],
): Promise<StandingTask[]> {
  const {files} = daemon;
  const {messages} = caller.of;
  const open = [...new Set(deliveredTasks(messages))].flatMap(key => {
    const task = openTask(files, key);
    return task ? [{key, task}] : [];
  });
  if (open.length === 0) return [];
  const created = tasksCreated(files, caller.session);
  const standing: typeof open = [];
  for (const {key, task} of open) {
    const since = messages.find(({delivery}) => delivery === key)?.timestamp ?? '';
    if (created.some(each => (each.task.created ?? since) >= since) || hasOpenParts(files, task.id ?? '')) continue;
    if (!(await waitsForReply(daemon, caller, named, key, task.createdBy))) standing.push({key, task});
  }
  return standing;
}

/**
 * Whether another agent may still reply to a message sent since the task arrived. If so, the session is followed up again
 * once that agent rests.
 */
async function waitsForReply(
  daemon: With<'files' | 'mail' | 'tasks'>,
  {path, of}: Caller,
  named: readonly string[],
  key: string,
  createdBy: string | undefined,
): Promise<boolean> {
  for (const name of awaitedNames(of.messages, key)) {
    if (name === createdBy) continue;
    const waitFor = (other: string) => daemon.tasks.waitFor(other, path);
    if (named.includes(name)) waitFor(receiverFor(daemon.files, of, name).path);
    else if (!(await sessionThatMayAnswer(daemon, of, name, new Set([path]), waitFor))) continue;
    return true;
  }
  return false;
}

/** Whether somebody still has to do a part of the task. Nobody does a part that is assigned to nobody. */
function hasOpenParts({index}: HomeFiles, id: string): boolean {
  const isPart = ({parent, nested, state, names, assign}: TaskFact) =>
    (parent ?? nested) === id && isOpenState(state) && ((names?.length ?? 0) > 0 || assign !== undefined);
  return [...index.links.partsOf(id)].some(path => index.facts(path)?.tasks?.some(isPart));
}
