import {waitForMore} from '../../decide/budget.ts';
import type {CallRequest} from '../../decide/call-request.ts';
import {CALLS_PER_ANSWER, refusedCallWords, splitCalls} from '../../decide/many-calls.ts';
import {taintKeys} from '../../decide/taint.ts';
import {
  type CallKeys,
  isCancelled,
  mayWork,
  nextAction,
  nextSessionAction,
  type OpenCalls,
  restKeys,
  withCallKeys,
  withHeader,
  withResults,
} from '../../decide/turn.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import type {Session} from '../../formats/session/session.ts';
import type {Call, Message} from '../../formats/session/session-schema.ts';
import {callWords} from '../../policy/call-words.ts';
import {noteOutcomes} from '../calls/call-outcomes.ts';
import {type BegunCalls, beginCalls, type CallToMark, resultMessage} from '../calls/calls.ts';
import {wasInterrupted} from '../calls/next-call.ts';
import {childFor} from '../delegation/start-task.ts';
import {noteResults, stopTasks, taskResults} from '../delegation/task-results.ts';
import {requestLimitFor} from '../sessions/budget.ts';
import {limitStep, type SessionStep} from '../sessions/step.ts';
import {registerRequest} from '../sessions/wake.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import type {Turns} from '../state/turns.ts';
import {startQuestion} from './ask.ts';

/**
 * Begin the calls of the last answer that may begin, and record results. `ahead`: the answer itself is not written yet
 * and is written together with this step. Once all results are known, the next question is asked without waiting for the write.
 */
export async function callStep(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'tasks' | 'spend' | 'effects'>,
  caller: Caller,
  session: Session,
  now: string,
  ahead: boolean,
): Promise<SessionStep | undefined> {
  const {reports, turns} = daemon;
  const {report} = reports;
  const {path} = caller;
  const cancelled = isCancelled(session);
  // Calls that were begun before the person cancelled the turn still get their results.
  const next = cancelled ? nextAction(session.messages) : nextSessionAction(session);
  if (next.do !== 'call') {
    // Discard results of calls that are no longer in the session.
    if (!ahead) turns.recorded(path, turns.results(path).keys());
    else if (next.do === 'ask') await startQuestion(daemon, caller, session, true);
    return undefined;
  }
  const {open} = next;
  const {header} = session;
  const held = await daemon.current.hold(caller.agent);
  const isEnding = turns.delegated.ending.has(path);
  const mayBegin = mayWork(header) && !cancelled && !held && !isEnding && !turns.stopped;
  if (cancelled) turns.endCalls('a person cancelled the turn', path);
  else if (held) turns.endCalls(`the agent is ${held.status}`, path);
  else if (!mayWork(header)) turns.endCalls(`the session is ${header?.status}`, path);
  if (cancelled || header?.status === 'completed')
    stopTasks(daemon, open.calls, 'the session that asked for it was stopped');
  const limit = (await daemon.current.settings()).limits?.calls_per_answer ?? CALLS_PER_ANSWER;
  const {accepted, refused} = splitCalls(session.messages, open, limit);
  const isFull = () => requestLimitFor(daemon, path, caller.agent) !== undefined;
  // A call that an earlier daemon started gets its result even if the session was paused since: whatever is left of it must end.
  const toBegin = mayBegin ? accepted : turns.stopped ? [] : accepted.filter(wasInterrupted);
  const {marked, asks, full}: BegunCalls = await beginCalls(daemon, {...caller, of: session}, toBegin, {
    isFull,
    childFor: call => childFor(daemon.files, {...caller, of: session}, call),
  });
  const results = await resultsOf(turns, path, open);
  if (!turns.stopped) results.push(...(await taskResults(daemon, {...caller, of: session}, session, open, now)));
  const words = refusedCallWords(limit, session.messages[open.index]?.tool_calls?.length ?? 0);
  if (mayBegin)
    for (const {id} of refused)
      results.push(resultMessage(id, {success: false, code: 'NOT_ALLOWED', error: words}, now));
  if (results.length === 0 && !marked && asks.length === 0)
    return full ? waitToAsk(daemon, caller, session, accepted, now) : undefined;
  const keys = new Map<string, CallKeys>(asks.map(({call, id}) => [call, {approval: id}]));
  if (marked)
    keys.set(marked.call, {
      ...{started: now, run: daemon.effects.run},
      ...(marked.host && {where: 'host'}),
      ...(marked.child !== undefined && {child: marked.child}),
    });
  let result = withCallKeys(session, open.index, keys);
  result = withResults(result, open, results);
  const status = mayBegin && restKeys(nextAction(result.messages), header);
  result = withHeader(result, {...status, ...taintKeys(result)}, now);
  if (mayBegin && results.length === open.calls.length && (ahead || !turns.question(path)))
    await startQuestion(daemon, caller, result, ahead);
  const ended = results.map(({tool_call_id}) => tool_call_id ?? '');
  const changed = new Set([...ended, ...(marked ? [marked.call] : [])]);
  // The decision, the start and the result of an approved call are one step. Without an approval, the step would be that of the answer.
  const isApproved = changed.size > 0 && open.calls.every(call => !changed.has(call.id) || call.approval !== undefined);
  return {
    session: result,
    entry: {
      words: reports.redact.text(wordsOf(open, results, marked, asks)),
      cause: 'call',
      agent: caller.agent,
      trailers: trailersOf(open, [...changed], asks),
      started: marked?.names ?? [],
      ...(isApproved && {joins: 'step' as const}),
    },
    written: () => {
      for (const request of asks) {
        registerRequest(daemon, request);
        const {id, session: of, agent, ask} = request;
        report({event: 'asked', id, session: of, agent, what: ask.title, risk: ask.risk.level});
      }
    },
    done: () => {
      turns.recorded(path, ended);
      noteResults(daemon.files, open.calls, new Set(ended));
      noteOutcomes(daemon, open.calls, results);
      marked?.start();
    },
  };
}

/** Pause a session that cannot ask now. While one of its calls runs or waits, the end of that call brings it back. */
function waitToAsk(
  daemon: With<'files' | 'turns' | 'approvals' | 'spend'>,
  {path, agent}: Caller,
  session: Session,
  calls: readonly Call[],
  now: string,
): SessionStep | undefined {
  if (calls.some(({id, approval}) => approval !== undefined || daemon.turns.isRunning(path, id))) return undefined;
  const limit = requestLimitFor(daemon, path, agent);
  return limit && limitStep(waitForMore(session, limit, now), limit.id);
}

/** Trailers for calls that begin, end or ask, and for their approvals. */
function trailersOf({calls}: OpenCalls, ids: readonly string[], asks: readonly CallRequest[]): [string, string][] {
  const named = new Set(ids);
  const approvals = calls.flatMap(({id, approval}) => (named.has(id) && approval !== undefined ? [approval] : []));
  return [
    ...[...ids, ...asks.map(({call}) => call)].map((id): [string, string] => ['Call', id]),
    ...[...approvals, ...asks.map(({id}) => id)].map((id): [string, string] => ['Approval', id]),
  ];
}

/** Wait this long for fast calls, which saves another look at the session. */
const SOON_MS = 3;

async function resultsOf(turns: Turns, path: string, {calls}: OpenCalls): Promise<Message[]> {
  await turns.waitForCalls(path, SOON_MS);
  const known = turns.results(path);
  const ended = calls.flatMap(({id}) => known.get(id) ?? []);
  const children = new Map(calls.map(({id, child}) => [id, child]));
  // The task has begun: its session tells how it ends.
  const begun = ended.filter(
    ({tool_call_id: id = '', content}) => children.get(id) !== undefined && content?.startsWith('{"success":true'),
  );
  turns.recorded(
    path,
    begun.map(({tool_call_id = ''}) => tool_call_id),
  );
  return ended.filter(result => !begun.includes(result));
}

/** How many calls a commit subject names. */
const MOST_NAMED = 20;

/** Names calls as they ran, including a person's edits. */
function wordsOf(
  {calls}: OpenCalls,
  results: readonly Message[],
  started: CallToMark | undefined,
  asks: readonly CallRequest[],
): string {
  const names = (of: ReadonlyMap<string | undefined, CallToMark['edited']>) => {
    const named = calls.filter(({id}) => of.has(id));
    const words = named.slice(0, MOST_NAMED).map(call => visibleLine(callWords(call.function, of.get(call.id))));
    return [...words, ...(named.length > MOST_NAMED ? [`${named.length - MOST_NAMED} more`] : [])].join(', ');
  };
  const ended = new Map(results.map(({tool_call_id, content}) => [tool_call_id, editedIn(content ?? '')]));
  const words: string[] = [];
  if (ended.size > 0) words.push(`${ended.size === 1 ? 'result' : 'results'} of ${names(ended)}`);
  if (started) words.push(`started ${names(new Map([[started.call, started.edited]]))}`);
  if (asks.length > 0) words.push(`asks about ${names(new Map(asks.map(({call}) => [call, undefined])))}`);
  return words.join('; ');
}

/** The arguments that a person edited, according to the result. */
function editedIn(content: string): CallToMark['edited'] {
  if (!content.includes('"edited"')) return undefined;
  const {edited} = JSON.parse(content) as {edited?: unknown};
  return typeof edited === 'object' ? (edited as CallToMark['edited']) : undefined;
}
