import {
  endAfterAnswer,
  isAskedToSummarize,
  resultOf,
  summaryRequest,
  TASK_SECONDS,
  type TaskEnd,
} from '../../decide/delegation.ts';
import {reachedWords} from '../../decide/limit-words.ts';
import {isCancelled, mayWork, nextAction, nextSessionAction, withHeader, withResults} from '../../decide/turn.ts';
import type {ToolResult} from '../../effects/tool/tool.ts';
import type {Session} from '../../formats/session/session.ts';
import {insertMessage} from '../../formats/session/session-edit.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import type {TemplateValue} from '../../formats/template.ts';
import {crashPoint} from '../../home/disk/crash.ts';
import {lookAgain} from '../../loop/look-again.ts';
import {resultMessage} from '../calls/calls.ts';
import {wasInterrupted} from '../calls/next-call.ts';
import {limitFor} from '../sessions/budget.ts';
import type {SessionStep} from '../sessions/step.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {sessionPath} from './start-task.ts';
import {stopTasks} from './task-results.ts';

type Needs = With<'files' | 'turns' | 'spend'>;

/** The session of a task. The template of its agent may be gone: then its time still ends. */
type TaskCaller = Pick<Caller, 'path' | 'session' | 'agent'> & {template: TemplateValue | undefined};

/** Whether the session does a task that has not ended. */
export function isOpenTask({header}: Session): boolean {
  return header?.kind === 'task' && header.result === undefined;
}

/**
 * End the task of a session: after its final answer and, if that is long, a summary; or because it was stopped, failed, or
 * reached a limit. Then nothing of it runs any more.
 */
export async function taskStep(
  daemon: Needs,
  caller: TaskCaller,
  session: Session,
  now: string,
): Promise<SessionStep | undefined> {
  const {turns} = daemon;
  const {path} = caller;
  if (!isOpenTask(session)) return undefined;
  const {messages} = session;
  const forced = forcedEnd(daemon, caller, session, now);
  if (forced) {
    turns.delegated.ending.add(path);
    turns.dropQuestions(path);
    turns.endCalls(forced.error, path);
    const next = nextAction(messages);
    // Their results come first.
    if (turns.has(path) || (next.do === 'call' && next.open.calls.some(wasInterrupted))) return undefined;
    const answered = forced.status === 'failed' && isAskedToSummarize(caller.session, messages);
    const end = endAfterAnswer(caller.session, messages, false);
    if (end === 'ask for a summary') return undefined;
    return endStep(daemon, caller, session, answered ? end : {...forced, summary: end.summary}, now);
  }
  if (!isAtEnd(turns, path, session)) return undefined;
  const maySummarize = session.header?.parent !== undefined && limitFor(daemon, path, session) === undefined;
  const end = endAfterAnswer(caller.session, messages, maySummarize);
  if (end !== 'ask for a summary') return endStep(daemon, caller, session, end, now);
  const asked = insertMessage(session, messages.length, summaryRequest(caller.session, now));
  return {
    session: withHeader(asked, {status: 'active'}, now),
    entry: {words: 'asked to summarize its task', cause: 'delivery'},
  };
}

function isAtEnd(turns: Needs['turns'], path: string, session: Session): boolean {
  const {header, messages} = session;
  const due = (header?.mentions_due?.length ?? 0) + (header?.tasks_due?.length ?? 0);
  const isAnswered = messages.at(-1)?.role === 'assistant';
  return isAnswered && due === 0 && mayWork(header) && nextSessionAction(session).do === 'rest' && !turns.has(path);
}

/** Why the task ends without a final answer. A person's own task ends only if a person says so. */
function forcedEnd(
  daemon: Needs,
  {path, template}: TaskCaller,
  session: Session,
  now: string,
): {status: 'failed' | 'stopped'; error: string} | undefined {
  const {files, turns} = daemon;
  const {header, messages} = session;
  if (header?.status === 'completed' || isCancelled(session)) return {status: 'stopped', error: 'a person stopped it'};
  if (!header?.parent) return undefined;
  const next = nextSessionAction(session);
  if (next.do === 'rest' && mayWork(header) && messages.at(-1)?.role === 'assistant') return undefined;
  if (header.status === 'error') return {status: 'failed', error: errorText(header.error)};
  const limit = next.do === 'ask' || header.status === 'waiting' ? limitFor(daemon, path, session) : undefined;
  if (limit && ofTask.has(limit.scope)) return {status: 'failed', error: `it reached a limit: ${reachedWords(limit)}`};
  const seconds = template?.limits?.task_timeout_seconds ?? TASK_SECONDS;
  const left = Date.parse(header.created ?? now) + seconds * 1000 - files.disk.clock.now();
  if (left <= 0)
    return {status: 'failed', error: `it took longer than ${seconds} s (limits.task_timeout_seconds of its agent)`};
  turns.delegated.limit(path, left, () => lookAgain(files, path));
  const stopped = turns.delegated.stopped.get(path);
  return stopped === undefined ? undefined : {status: 'stopped', error: stopped};
}

/** Limits of the session and its agent. At others, such as the cost of all agents in a day, the session waits for a person. */
const ofTask: ReadonlySet<string> = new Set(['work', 'agent']);

function errorText(error: unknown): string {
  const text = typeof error === 'string' ? error : (error as {message?: unknown} | undefined)?.message;
  return typeof text === 'string' && text !== '' ? text : 'its session stopped with an error';
}

async function endStep(
  daemon: Needs,
  {path, agent}: TaskCaller,
  session: Session,
  end: Exclude<TaskEnd, string>,
  now: string,
): Promise<SessionStep> {
  const {turns} = daemon;
  const {header = {agent_id: agent}, messages} = session;
  const next = nextAction(messages);
  const open = next.do === 'call' ? next.open.calls : [];
  const closed =
    next.do === 'call'
      ? withResults(
          session,
          next.open,
          open.map(call => resultMessage(call.id, resultAtEnd(call, end.error), now)),
        )
      : session;
  const all = [...(await turns.segments.messages(header.segments ?? [])), ...closed.messages];
  const result = resultOf(end, header, all, now);
  const {parent} = header;
  const keys = {status: 'completed' as const, waiting_for: undefined, error: undefined, result};
  crashPoint('task-result');
  return {
    session: withHeader(closed, {...keys, ...(parent && {result_due: true})}, now),
    entry: {
      words: `its task ${result.status === 'completed' ? 'is completed' : result.status === 'failed' ? 'has failed' : 'was stopped'}`,
      cause: 'result',
      agent,
      ...(parent && {trailers: [['Parent', parent.session]]}),
    },
    done: () => {
      turns.delegated.ended(path);
      stopTasks(daemon, open, 'the task that they were a part of has ended');
      const asked = parent && sessionPath(daemon.files, parent.session);
      if (asked !== undefined) lookAgain(daemon.files, asked);
    },
  };
}

/** The result of a call that is open when the task ends. */
function resultAtEnd({started}: Call, why = ''): ToolResult {
  if (started === undefined) return {success: false, code: 'REJECTED', error: `nothing was run: ${why}`};
  return {success: false, code: 'INTERRUPTED', error: `interrupted, outcome unknown: ${why}`};
}
