import type {CallRequest} from '../../decide/call-request.ts';
import {taintKeys} from '../../decide/taint.ts';
import {
  mayWork,
  nextAction,
  nextSessionAction,
  type OpenCalls,
  statusFor,
  withCallKeys,
  withHeader,
  withResults,
} from '../../decide/turn.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import type {Session} from '../../formats/session/session.ts';
import type {Message} from '../../formats/session/session-schema.ts';
import {callWords} from '../../policy/call-words.ts';
import {noteOutcomes} from '../calls/call-outcomes.ts';
import {type BegunCalls, beginCalls, type CallToMark} from '../calls/calls.ts';
import type {SessionStep} from '../sessions/step.ts';
import {registerRequest} from '../sessions/wake.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import type {Turns} from '../state/turns.ts';
import {startQuestion} from './question.ts';

/**
 * Begin the calls of the last answer, as far as they may begin, and record results. `ahead`: the answer itself is to be
 * recorded with it. The next question is asked as soon as all results are known; it changes nothing.
 */
export async function callStep(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'approvals' | 'tasks' | 'spend' | 'effects'>,
  caller: Caller,
  session: Session,
  now: string,
  ahead: boolean,
): Promise<SessionStep | undefined> {
  const {reports, turns} = daemon;
  const {report} = reports;
  const {path} = caller;
  const next = nextSessionAction(session);
  if (next.do !== 'call') {
    // Of calls that are no more.
    if (!ahead) turns.recorded(path, turns.results(path).keys());
    else if (next.do === 'ask') await startQuestion(daemon, caller, session, true);
    return undefined;
  }
  const {open} = next;
  const {header} = session;
  const mayBegin = mayWork(header) && !turns.stopped;
  if (!mayWork(header)) turns.endCalls(`the session is ${header?.status}`, path);
  const {marked, asks}: BegunCalls = mayBegin
    ? await beginCalls(daemon, {...caller, of: session}, open)
    : {marked: undefined, asks: []};
  const results = await resultsOf(turns, path, open);
  if (results.length === 0 && !marked && asks.length === 0) return undefined;
  let result = session;
  for (const {call, id} of asks) result = withCallKeys(result, open.index, call, {approval: id});
  if (marked)
    result = withCallKeys(result, open.index, marked.call, {
      started: now,
      run: daemon.effects.run,
      ...(marked.host && {where: 'host'}),
    });
  result = withResults(result, open, results);
  const status = mayBegin && {status: statusFor(nextAction(result.messages))};
  result = withHeader(result, {...status, ...taintKeys(result)}, now);
  if (mayBegin && results.length === open.calls.length && (ahead || !turns.question(path)))
    await startQuestion(daemon, caller, result, ahead);
  const ended = results.map(({tool_call_id}) => tool_call_id ?? '');
  return {
    session: result,
    entry: {
      words: reports.redact.text(wordsOf(open, results, marked, asks)),
      cause: 'call',
      agent: caller.agent,
      trailers: trailersOf(open, [...ended, ...(marked ? [marked.call] : [])], asks),
      started: marked?.names ?? [],
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
      noteOutcomes(daemon, open.calls, results);
      marked?.start();
    },
  };
}

/** Of calls that begin or end, and of what persons decide about them. */
function trailersOf({calls}: OpenCalls, ids: readonly string[], asks: readonly CallRequest[]): [string, string][] {
  const approvals = calls.flatMap(({id, approval}) => (ids.includes(id) && approval !== undefined ? [approval] : []));
  return [
    ...[...ids, ...asks.map(({call}) => call)].map((id): [string, string] => ['Call', id]),
    ...[...approvals, ...asks.map(({id}) => id)].map((id): [string, string] => ['Approval', id]),
  ];
}

/** Calls that only compute something end within a moment: wait for them, and save a look. */
const SOON_MS = 3;

async function resultsOf(turns: Turns, path: string, {calls}: OpenCalls): Promise<Message[]> {
  await turns.waitForCalls(path, SOON_MS);
  const known = turns.results(path);
  return calls.flatMap(({id}) => known.get(id) ?? []);
}

/** What ran is named as it ran, also where a person had changed it. */
function wordsOf(
  {calls}: OpenCalls,
  results: readonly Message[],
  started: CallToMark | undefined,
  asks: readonly CallRequest[],
): string {
  const names = (of: ReadonlyMap<string | undefined, CallToMark['edited']>) =>
    calls
      .filter(({id}) => of.has(id))
      .map(call => visibleLine(callWords(call.function, of.get(call.id))))
      .join(', ');
  const ended = new Map(results.map(({tool_call_id, content}) => [tool_call_id, editedIn(content ?? '')]));
  const words: string[] = [];
  if (ended.size > 0) words.push(`${ended.size === 1 ? 'result' : 'results'} of ${names(ended)}`);
  if (started) words.push(`started ${names(new Map([[started.call, started.edited]]))}`);
  if (asks.length > 0) words.push(`asks about ${names(new Map(asks.map(({call}) => [call, undefined])))}`);
  return words.join('; ');
}

/** What a result says that a person had changed. */
function editedIn(content: string): CallToMark['edited'] {
  if (!content.includes('"edited"')) return undefined;
  const {edited} = JSON.parse(content) as {edited?: unknown};
  return typeof edited === 'object' ? (edited as CallToMark['edited']) : undefined;
}
