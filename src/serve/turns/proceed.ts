import {blocks} from '../../files/diagnostic.ts';
import {stemOf} from '../../files/key.ts';
import {type Session, sessionText} from '../../files/session/session.ts';
import type {SessionHeader} from '../../files/session/session-schema.ts';
import {visibleLine} from '../../files/visible.ts';
import type {Outcome} from '../../queue.ts';
import {endWait} from '../../reconcile/budget.ts';
import {completeSession} from '../../reconcile/session.ts';
import {taintKeys} from '../../reconcile/taint.ts';
import {mayWork, statusFor, withHeader, workOf} from '../../reconcile/turn.ts';
import {timestamp} from '../../store/clock.ts';
import {outcomesWanted} from '../calls/call-outcomes.ts';
import {callStep} from '../calls/call-step.ts';
import type {Caller} from '../calls/caller.ts';
import {deliverStep} from '../mail/deliver-step.ts';
import {mentionStep} from '../mail/mention-step.ts';
import {type Found, type Seen, seenSession} from '../seen.ts';
import type {Serving} from '../serving.ts';
import {take} from '../state.ts';
import {replaceText} from '../write.ts';
import {laterStep} from './after-answer.ts';
import {answerStep} from './answer-step.ts';
import {owesNews} from './at-work.ts';
import {approvalStateOf, reachedBy} from './budget.ts';
import {closeStep} from './close-step.ts';
import {endStep} from './end-step.ts';
import {askFor} from './question.ts';
import {limitStep, type Step} from './step.ts';

const WAIT_MS = 500;

/**
 * Go on with a session as far as it goes without waiting for anybody: record what has come in, start what is to be
 * done next, and write down where it stands. What is waited for brings the session back here. The file has no errors.
 */
export async function proceed(serving: Serving, seen: Seen): Promise<Outcome> {
  let current = seen;
  for (;;) {
    const step = await nextStep(serving, current);
    if (!step) break;
    // A rebase or merge does not go on over files that change meanwhile.
    if (serving.journal.unfinished()) return {after: WAIT_MS};
    const steps = [step, step.then, step.then?.then].filter(each => each !== undefined);
    const last = steps.at(-1) ?? step;
    const text = sessionText(last.session);
    const seenAs = (found: Found) => seenSession(current.path, last.session, text, found);
    const changes = steps.map(({entry, session}) =>
      session === last.session ? {entry} : {entry, text: sessionText(session)},
    );
    const written = await replaceText(serving, current, text, {steps: changes, seenAs});
    if ('outcome' in written) return written.outcome;
    current = written.seen;
    for (const {entry} of steps) serving.started.add(entry.started ?? []);
    for (const each of steps) each.written?.();
    take(serving, current);
    for (const each of steps) each.done?.();
    if (blocks(current.facts.problems)) break;
  }
  const known = serving.known.get(seen.path);
  // A daemon that is stopping begins nothing more: what is left is for the next one.
  const {turns, nudged} = serving;
  const owes = current.parsed?.kind === 'session' && owesNews(current.parsed.file);
  if (known) known.settled = !turns.stopped && !turns.has(seen.path) && !nudged.has(seen.path) && !owes;
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
  const now = timestamp(serving.clock);
  outcomesWanted(serving, path, session);
  const brought = await deliverStep(serving, path, session, now);
  if (brought) return brought;
  if (template) {
    const caller: Caller = {path, session: id, agent: header.agent_id, template, of: session};
    const tainted = taintStep(session, now);
    if (tainted) return tainted;
    const told = mentionStep(serving, caller, session, now);
    if (told) return told;
    const ended = endStep(serving, caller, session, now);
    if (ended) return ended;
    const step =
      (await callStep(serving, caller, session, now, false)) ?? (await answerStep(serving, caller, session, now));
    if (step) return step;
    const later = await laterStep(serving, caller, session, now);
    if (later) return later;
    const expects = serving.mail.expects(path);
    if (expects > 0) serving.queue.addAfter(path, expects);
    else if (mayWork(header) && workOf(session).do === 'ask' && !serving.turns.asked(path))
      await askFor(serving, caller, session, false);
  }
  return (
    waitStep(serving, path, session, now) ??
    restStep(session, id, template, now) ??
    closeStep(serving, path, session, now)
  );
}

/** A session that waited for a person to grant more, and need not any longer. */
function waitStep(serving: Serving, path: string, session: Session, now: string): Step | undefined {
  const state = (id: string) => approvalStateOf(serving, id);
  const ended = endWait(session, {state, reached: reachedBy(serving, path), now});
  return ended && limitStep(ended, session.header?.waiting_for ?? '');
}

/** Where text from outside came in is kept, whatever becomes of the message: here of what a person wrote. */
function taintStep(session: Session, now: string): Step | undefined {
  const keys = taintKeys(session);
  if (!keys.tainted) return undefined;
  return {
    session: withHeader(session, keys, now),
    entry: {words: `has read what came from outside (${visibleLine(keys.tainted.at(-1) ?? '')})`, cause: 'taint'},
  };
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
  const due = statusFor(workOf(session));
  const works = mayWork(session.header);
  if (works && template && status !== due) keys.status = due;
  const stale = works && session.header?.error !== undefined;
  if (stale) keys.error = undefined;
  if (!completed && !keys.status && !stale) return undefined;
  const filled = completed?.session ?? session;
  const words = [completed?.words, keys.status && status !== undefined && keys.status, stale && 'no error any more'];
  return {
    session: withHeader(filled, keys, now),
    entry: {words: words.filter(Boolean).join('; '), cause: completed ? 'fill-in' : 'turn'},
  };
}
