import {hasErrors} from '../files/diagnostic.ts';
import {stemOf} from '../files/key.ts';
import {type Session, sessionText} from '../files/session.ts';
import type {SessionHeader, SessionStatus} from '../files/session-schema.ts';
import type {Outcome} from '../queue.ts';
import {endWait} from '../reconcile/budget.ts';
import {completeSession} from '../reconcile/session.ts';
import {mayWork, withHeader, workOf} from '../reconcile/turn.ts';
import {answerStep} from './answer-step.ts';
import {budgetStateOf, reachedBy} from './budget.ts';
import {callStep} from './call-step.ts';
import type {Caller} from './calls.ts';
import {askFor} from './question.ts';
import {recordOwn} from './record.ts';
import {type Found, type Seen, seenSession} from './seen.ts';
import type {Serving} from './serving.ts';
import {take} from './state.ts';
import {limitStep, type Step} from './step.ts';
import {replaceText} from './write.ts';

const WAIT_MS = 500;

/**
 * Go on with a session as far as it goes without waiting for anybody: record what has come in, start what is to be
 * done next, and write down where it stands. What is waited for brings the session back here. The file has no errors.
 * `recorded`: when the person's own edit is in the journal.
 */
export async function proceed(serving: Serving, seen: Seen, recorded?: Promise<void>): Promise<Outcome> {
  let current = seen;
  for (;;) {
    const step = await nextStep(serving, current);
    if (!step) break;
    // A rebase or merge does not go on over files that change meanwhile.
    if (serving.journal.unfinished()) return {after: WAIT_MS};
    await recorded;
    const steps = [step, step.then, step.then?.then].filter(each => each !== undefined);
    const last = steps.at(-1) ?? step;
    const text = sessionText(last.session);
    const seenAs = (found: Found) => seenSession(current.path, last.session, text, found);
    const written = await replaceText(serving, current, text, {light: !steps.some(({marked}) => marked), seenAs});
    if ('outcome' in written) return written.outcome;
    current = written.seen;
    for (const each of steps) each.written?.();
    take(serving, current);
    for (const {entry, session} of steps.slice(0, -1))
      recordOwn(serving, current, entry, Buffer.from(sessionText(session)));
    recordOwn(serving, current, last.entry);
    for (const each of steps) each.done?.();
    if (hasErrors(current.facts.problems)) break;
  }
  const known = serving.known.get(seen.path);
  // A daemon that is stopping begins nothing more: what is left is for the next one.
  const {turns, nudged} = serving;
  if (known) known.settled = !turns.stopped && !turns.has(seen.path) && !nudged.has(seen.path);
  serving.unsaved = true;
  return undefined;
}

/** The next thing to write, if any. What must be durable before it begins, `done` begins. */
async function nextStep(serving: Serving, seen: Seen): Promise<Step | undefined> {
  const session = seen.parsed?.kind === 'session' ? seen.parsed.file : undefined;
  const {header} = session ?? {};
  if (!session || !header) return undefined;
  const {path} = seen;
  const template = await serving.current.template(header.agent_id);
  const id = header.session_id ?? stemOf(path);
  const now = new Date().toISOString();
  if (template) {
    const caller: Caller = {path, session: id, agent: header.agent_id, template};
    const step =
      (await callStep(serving, caller, session, now, false)) ?? (await answerStep(serving, caller, session, now));
    if (step) return step;
    if (mayWork(header.status) && workOf(session).do === 'ask' && !serving.turns.asked(path))
      await askFor(serving, caller, session, false);
  }
  return waitStep(serving, path, session, now) ?? restStep(session, id, template, now);
}

/** A session that waited for a person to grant more, and need not any longer. */
function waitStep(serving: Serving, path: string, session: Session, now: string): Step | undefined {
  const state = (id: string) => budgetStateOf(serving, id);
  const ended = endWait(session, {state, reached: reachedBy(serving, path), now});
  return ended && limitStep(ended, session.header?.waiting_for ?? '');
}

/** Fill in what a person left out, and the status that follows from the messages. */
function restStep(
  session: Session,
  id: string,
  template: Caller['template'] | undefined,
  now: string,
): Step | undefined {
  const completed = completeSession(session, {id, template, now});
  const keys: Partial<SessionHeader> & {error?: undefined} = {};
  const {status} = session.header ?? {};
  const due: SessionStatus = workOf(session).do === 'rest' ? 'sleeping' : 'active';
  if (mayWork(status) && template && status !== due) keys.status = due;
  const stale = mayWork(status) && session.header?.error !== undefined;
  if (stale) keys.error = undefined;
  if (!completed && !keys.status && !stale) return undefined;
  const filled = completed?.session ?? session;
  const words = [completed?.words, keys.status && status !== undefined && keys.status, stale && 'no error any more'];
  return {
    session: withHeader(filled, keys, now),
    entry: {words: words.filter(Boolean).join('; '), cause: completed ? 'fill-in' : 'turn'},
  };
}
