import {endWait} from '../../decide/budget.ts';
import {completeSession, isComplete} from '../../decide/session.ts';
import {taintKeys} from '../../decide/taint.ts';
import {mayWork, nextSessionAction, statusFor, withHeader} from '../../decide/turn.ts';
import {stemOf} from '../../formats/common/key.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {type Session, sessionText} from '../../formats/session/session.ts';
import type {SessionHeader} from '../../formats/session/session-schema.ts';
import {timestamp} from '../../home/disk/clock.ts';
import {type FileSnapshot, snapshotOfSession} from '../../loop/file-snapshot.ts';
import type {PlannedWrite} from '../../loop/planned-write.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {noteMissingOutcomes} from '../calls/call-outcomes.ts';
import {deliverStep, newSessionFor} from '../mail/deliver-step.ts';
import {mentionStep} from '../mail/mention-step.ts';
import {approvalStateOf, limitsReachedBy} from '../sessions/budget.ts';
import {limitStep, type SessionStep} from '../sessions/step.ts';
import type {Approvals} from '../state/approvals.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {followUpStep} from './after-answer.ts';
import {answerStep} from './answer-step.ts';
import {hasUndeliveredNews, wakeWaiting} from './at-work.ts';
import {callStep} from './call-step.ts';
import {closeStep} from './close-step.ts';
import {endStep} from './end-step.ts';
import {startQuestion} from './question.ts';

/**
 * Sessions. Each step records what has come in (an answer, results, a delivery) or writes down where the session stands, and starts what is
 * to be done next. What the session waits for brings it back here.
 */
export function sessionReconciler(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'tasks' | 'spend' | 'effects'>,
): Reconciler {
  const {turns} = daemon;
  return {
    kind: 'session',
    keepsParsed: true,
    isKnownByReading: true,
    async settle(file) {
      const step = await nextStep(daemon, file);
      return step && changeFor(daemon.approvals, file.path, step);
    },
    // A daemon that is stopping begins nothing more: the next one does.
    finish: ({path, parsed}) =>
      !turns.stopped && !turns.has(path) && !(parsed?.kind === 'session' && hasUndeliveredNews(parsed.file)),
    create: path => (daemon.mail.has(path) ? newSessionFor(daemon, path) : undefined),
    accepted: ({path}) => wakeWaiting(daemon, path),
    removed(path) {
      turns.dropQuestions(path);
      turns.endCalls('the session was removed', path);
      wakeWaiting(daemon, path);
    },
    // Nobody could write the answer down. The next start reports the refused edit again.
    unwritable: path => turns.dropQuestions(path),
    isAtRest: ({parsed}) => parsed?.kind === 'session' && hasNothingToDo(parsed.file),
    isWaiting: path => turns.has(path) && !turns.hasNews(path),
  };
}

/** Segments with older messages, and sessions that a person put away: nothing is written into them. */
export function archivedSessionReconciler(): Reconciler {
  return {
    kind: 'session',
    owns: path => path.startsWith('sessions/archive/'),
    isKnownByReading: true,
  };
}

function hasNothingToDo(session: Session): boolean {
  const {status} = session.header ?? {};
  if (!isComplete(session) || hasUndeliveredNews(session)) return false;
  return !mayWork(session.header) || (status === 'sleeping' && nextSessionAction(session).do === 'rest');
}

/** A step with those that follow from it at once: one write, a commit for each. */
function changeFor({started}: Approvals, path: string, step: SessionStep): PlannedWrite {
  const steps = [step, step.then, step.then?.then].filter(each => each !== undefined);
  const last = steps.at(-1) ?? step;
  const text = sessionText(last.session);
  return {
    text,
    entry: last.entry,
    earlier: steps.slice(0, -1).map(({entry, session}) => ({text: sessionText(session), entry})),
    readBack: found => snapshotOfSession(path, last.session, text, found),
    saved: () => {
      for (const {entry} of steps) started.add(entry.started ?? []);
      for (const each of steps) each.written?.();
    },
    done: () => {
      for (const each of steps) each.done?.();
    },
    again: true,
  };
}

/** The next thing to write, if any. What must be durable before it begins, `done` begins. */
async function nextStep(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'tasks' | 'spend' | 'effects'>,
  seen: FileSnapshot,
): Promise<SessionStep | undefined> {
  const {files, turns} = daemon;
  const session = seen.parsed?.kind === 'session' ? seen.parsed.file : undefined;
  const {header} = session ?? {};
  if (!session || !header) return undefined;
  const {path} = seen;
  const template = await daemon.current.template(header.agent_id);
  const id = header.session_id ?? stemOf(path);
  const now = timestamp(files.disk.clock);
  noteMissingOutcomes(daemon, path, session);
  const brought = await deliverStep(daemon, path, session, now);
  if (brought) return brought;
  if (template) {
    const caller: Caller = {path, session: id, agent: header.agent_id, template, of: session};
    const tainted = taintStep(session, now);
    if (tainted) return tainted;
    const told = mentionStep(daemon, caller, session, now);
    if (told) return told;
    const ended = endStep(daemon, caller, session, now);
    if (ended) return ended;
    const step =
      (await callStep(daemon, caller, session, now, false)) ?? (await answerStep(daemon, caller, session, now));
    if (step) return step;
    const later = await followUpStep(daemon, caller, session, now);
    if (later) return later;
    const expects = daemon.mail.expectMs(path);
    if (expects > 0) files.queue.addAfter(path, expects);
    else if (mayWork(header) && nextSessionAction(session).do === 'ask' && !turns.question(path))
      await startQuestion(daemon, caller, session, false);
  }
  return (
    waitStep(daemon, path, session, now) ?? restStep(session, id, template, now) ?? closeStep(turns, path, session, now)
  );
}

/** A session that waited for a person to grant more, and need not any longer. */
function waitStep(
  daemon: With<'files' | 'approvals' | 'spend'>,
  path: string,
  session: Session,
  now: string,
): SessionStep | undefined {
  const state = (id: string) => approvalStateOf(daemon.files, id);
  const ended = endWait(session, {state, reached: limitsReachedBy(daemon, path), now});
  return ended && limitStep(ended, session.header?.waiting_for ?? '');
}

/** Where text from outside came in is kept, whatever becomes of the message: here of what a person wrote. */
function taintStep(session: Session, now: string): SessionStep | undefined {
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
): SessionStep | undefined {
  const completed = completeSession(session, {id, template, now});
  const keys: Partial<SessionHeader> & {error?: undefined} = {};
  const {status} = session.header ?? {};
  const due = statusFor(nextSessionAction(session));
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
