import {endWait} from '../../decide/budget.ts';
import {hasBatches} from '../../decide/request-batch.ts';
import {completeSession, isComplete} from '../../decide/session.ts';
import {taintKeys} from '../../decide/taint.ts';
import {isCancelled, mayWork, nextAction, nextSessionAction, restKeys, withHeader} from '../../decide/turn.ts';
import {stemOf} from '../../formats/common/key.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {runPath} from '../../formats/run.ts';
import {type Session, sessionText} from '../../formats/session/session.ts';
import type {SessionHeader} from '../../formats/session/session-schema.ts';
import type {TemplateValue} from '../../formats/template.ts';
import {timestamp} from '../../home/disk/clock.ts';
import {type FileSnapshot, snapshotOfSession} from '../../loop/file-snapshot.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {PlannedWrite} from '../../loop/planned-write.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {noteMissingOutcomes} from '../calls/call-outcomes.ts';
import {wasInterrupted} from '../calls/next-call.ts';
import {noteRemovedChild, reportStep} from '../delegation/report-step.ts';
import {isOpenTask, taskStep} from '../delegation/task-step.ts';
import {deliverStep, newSessionFor} from '../mail/deliver-step.ts';
import {mentionStep} from '../mail/mention-step.ts';
import {approvalStateOf, limitsReachedBy} from '../sessions/budget.ts';
import {limitStep, type SessionStep} from '../sessions/step.ts';
import type {Approvals} from '../state/approvals.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';
import {followUpStep} from './after-answer.ts';
import {answerStep} from './answer-step.ts';
import {startQuestion} from './ask.ts';
import {hasUndeliveredNews, wakeWaiting} from './at-work.ts';
import {callStep} from './call-step.ts';
import {roomStep} from './checkpoint-step.ts';
import {closeStep} from './close-step.ts';
import {isCompactionWanted} from './compacting.ts';
import {endStep} from './end-step.ts';

/**
 * Reconciles session files. Each step records an answer, results or a delivery, or updates the status, and starts the
 * next question or call. Whatever the session waits for triggers another look when it ends.
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
    // A stopping daemon begins nothing; the next daemon does.
    finish: ({path, parsed}) =>
      !turns.stopped && !turns.has(path) && !(parsed?.kind === 'session' && isExpecting(parsed.file)),
    create: path => (daemon.mail.has(path) ? newSessionFor(daemon, path) : undefined),
    accepted({path}) {
      turns.delegated.removed.delete(stemOf(path));
      wakeWaiting(daemon, path);
      lookAtRunOf(daemon.files, path);
    },
    removed(path) {
      noteRemovedChild(daemon, path);
      lookAtRunOf(daemon.files, path);
      turns.dropQuestions(path);
      turns.endCalls('the session was removed', path);
      wakeWaiting(daemon, path);
    },
    // The answer could not be written. The next start reports the refused edit again.
    unwritable: path => turns.dropQuestions(path),
    isAtRest: ({parsed}) => parsed?.kind === 'session' && hasNothingToDo(parsed.file),
    isWaiting: path => turns.has(path) && !turns.hasNews(path),
  };
}

/** Whether the session has to be looked at again without a change to its file: it does a task, or others do tasks for it. */
function isExpecting(session: Session): boolean {
  const next = nextAction(session.messages);
  const delegates = next.do === 'call' && next.open.calls.some(({child}) => child !== undefined);
  return delegates || hasUndeliveredNews(session) || isOpenTask(session);
}

/** Segments with older messages, and sessions that a person archived. The daemon never changes them. */
export function archivedSessionReconciler(): Reconciler {
  return {
    kind: 'session',
    owns: path => path.startsWith('sessions/archive/'),
    isKnownByReading: true,
  };
}

/** The state of a workflow instance follows from its sessions, and from those that work for them (`reviewer.pr-123.1`). */
function lookAtRunOf(files: HomeFiles, path: string): void {
  const [, parent] = /^(.+)\.\d+$/.exec(stemOf(path)) ?? [];
  const above = parent === undefined ? undefined : files.index.definitionsOf(`session/${parent}`)[0]?.path;
  for (const each of [path, above]) {
    const [, instance] = /^sessions\/([^/]+)\//.exec(each ?? '') ?? [];
    const run = instance === undefined ? undefined : runPath(instance);
    if (run !== undefined && files.known.has(run)) lookAgain(files, run);
  }
}

/** Whether the model is to be asked, for an answer or for a checkpoint that a person wants. */
function wantsModel(session: Session): boolean {
  if (isCompactionWanted(session.header)) return true;
  return mayWork(session.header) && nextSessionAction(session).do === 'ask';
}

function hasNothingToDo(session: Session): boolean {
  const {status} = session.header ?? {};
  if (!isComplete(session) || isExpecting(session) || isCompactionWanted(session.header)) return false;
  const next = isCancelled(session) ? nextAction(session.messages) : nextSessionAction(session);
  if (next.do === 'call' && next.open.calls.some(wasInterrupted)) return false;
  return !mayWork(session.header) || (status === 'sleeping' && nextSessionAction(session).do === 'rest');
}

/** A step and its immediate successors: one file write, one commit each. */
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

/** The next change to write, if any. Work that requires the change to be durable begins in `done`. */
async function nextStep(
  daemon: With<'files' | 'reports' | 'current' | 'turns' | 'mail' | 'approvals' | 'tasks' | 'spend' | 'effects'>,
  file: FileSnapshot,
): Promise<SessionStep | undefined> {
  const {files, turns} = daemon;
  const session = file.parsed?.kind === 'session' ? file.parsed.file : undefined;
  const {header} = session ?? {};
  if (!session || !header) return undefined;
  const {path} = file;
  const template = await daemon.current.template(header.agent_id);
  const id = header.session_id ?? stemOf(path);
  const now = timestamp(files.disk.clock);
  noteMissingOutcomes(daemon, path, session);
  const delivery = await deliverStep(daemon, path, session, now);
  if (delivery) return delivery;
  // Mail that the session had already changes no file, but until now the session counted as at work because of it.
  wakeWaiting(daemon, path);
  const reported = reportStep(daemon, path, session, now);
  if (reported) return reported;
  const ended = await taskStep(daemon, {path, session: id, agent: header.agent_id, template}, session, now);
  if (ended) return ended;
  if (template) {
    const caller: Caller = {path, session: id, agent: header.agent_id, template, of: session};
    const taint = taintStep(session, template, now);
    if (taint) return taint;
    const mention = mentionStep(daemon, caller, session, now);
    if (mention) return mention;
    const taskUpdate = endStep(daemon, caller, session, now);
    if (taskUpdate) return taskUpdate;
    const step =
      (await callStep(daemon, caller, session, now, false)) ?? (await answerStep(daemon, caller, session, now));
    if (step) return step;
    const followUp = await followUpStep(daemon, caller, session, now);
    if (followUp) return followUp;
    const room = await roomStep(daemon, path, session, now);
    if (room) return room;
    const waitMs = daemon.mail.expectMs(path);
    // More lines may come, but there are enough for a request already.
    if (waitMs > 0 && !hasBatches(session.messages)) files.queue.addAfter(path, waitMs);
    else if (wantsModel(session) && !turns.question(path) && !turns.delegated.ending.has(path))
      await startQuestion(daemon, caller, session, false);
  }
  return (
    waitStep(daemon, path, session, now) ?? restStep(session, id, template, now) ?? closeStep(turns, path, session, now)
  );
}

/** End the wait for a higher limit if the limit was decided or is no longer reached. */
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

/** Record outside text that a person pasted into the session, or that led to its agent, so that the taint outlives the message. */
function taintStep(session: Session, {tainted = []}: TemplateValue, now: string): SessionStep | undefined {
  const known = session.header?.tainted ?? [];
  const inherited = tainted.filter(source => !known.includes(source));
  const keys = inherited.length > 0 ? {tainted: [...known, ...inherited]} : taintKeys(session);
  if (!keys.tainted) return undefined;
  return {
    session: withHeader(session, keys, now),
    entry: {words: `has read what came from outside (${visibleLine(keys.tainted.at(-1) ?? '')})`, cause: 'taint'},
  };
}

/** Fill in missing header fields, and set the status that follows from the messages. */
function restStep(
  session: Session,
  id: string,
  template: Caller['template'] | undefined,
  now: string,
): SessionStep | undefined {
  const completed = completeSession(session, {id, template, now});
  const keys: Partial<SessionHeader> & {error?: undefined} = {};
  const {status} = session.header ?? {};
  const due = restKeys(nextSessionAction(session), session.header);
  const works = mayWork(session.header);
  const waits = 'waiting_for' in due && due.waiting_for !== session.header?.waiting_for;
  if (works && template && (status !== due.status || waits)) Object.assign(keys, due);
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
