import type {Session} from '../files/session.ts';
import type {Message} from '../files/session-schema.ts';
import {visibleLine} from '../files/visible.ts';
import {callWords} from '../policy/call-words.ts';
import {mayWork, type OpenCalls, withHeader, withResults, withStarted, workOf} from '../reconcile/turn.ts';
import {beginCalls, type Caller} from './calls.ts';
import {askFor} from './question.ts';
import type {Serving} from './serving.ts';
import type {Step} from './step.ts';

/**
 * Begin the calls of the last answer, as far as they may begin, and record results. `ahead`: the answer itself is to be
 * recorded with it. The next question is asked as soon as all results are known; it changes nothing.
 */
export async function callStep(
  serving: Serving,
  caller: Caller,
  session: Session,
  now: string,
  ahead: boolean,
): Promise<Step | undefined> {
  const {turns} = serving;
  const {path} = caller;
  const next = workOf(session);
  if (next.do !== 'call') {
    // Of calls that are no more.
    if (!ahead) turns.recorded(path, turns.results(path).keys());
    else if (next.do === 'ask') await askFor(serving, caller, session, true);
    return undefined;
  }
  const {open} = next;
  const {status} = session.header ?? {};
  const mayBegin = mayWork(status) && !turns.stopped;
  if (!mayWork(status)) turns.endCalls(`the session is ${status}`, path);
  const marked = mayBegin ? await beginCalls(serving, caller, open) : undefined;
  const results = await resultsOf(serving, path, open);
  if (results.length === 0 && !marked) return undefined;
  let result = withResults(session, open, results);
  if (marked) result = withStarted(result, open.index, marked.call, now, serving.run);
  result = withHeader(result, {}, now);
  if (mayBegin && results.length === open.calls.length && (ahead || !turns.asked(path)))
    await askFor(serving, caller, result, ahead);
  const ended = results.map(({tool_call_id}) => tool_call_id ?? '');
  return {
    session: result,
    entry: {
      words: wordsOf(open, ended, marked?.call),
      cause: 'call',
      agent: caller.agent,
      trailers: [...ended, ...(marked ? [marked.call] : [])].map(call => ['Call', call]),
    },
    marked: marked !== undefined,
    done: () => {
      turns.recorded(path, ended);
      marked?.start();
    },
  };
}

/** Calls that only compute something end within a moment: wait for them, and save a look. */
const SOON_MS = 3;

async function resultsOf({turns}: Serving, path: string, {calls}: OpenCalls): Promise<Message[]> {
  await turns.soon(path, SOON_MS);
  const known = turns.results(path);
  return calls.flatMap(({id}) => known.get(id) ?? []);
}

function wordsOf({calls}: OpenCalls, ended: readonly string[], started: string | undefined): string {
  const names = (ids: readonly string[]) =>
    calls
      .filter(({id}) => ids.includes(id))
      .map(call => visibleLine(callWords(call.function)))
      .join(', ');
  const words: string[] = [];
  if (ended.length > 0) words.push(`${ended.length === 1 ? 'result' : 'results'} of ${names(ended)}`);
  if (started !== undefined) words.push(`started ${names([started])}`);
  return words.join('; ');
}
