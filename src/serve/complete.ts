import {randomBytes} from 'node:crypto';
import {UserError} from '../errors.ts';
import {APPROVALS_FILE} from '../files/approval-item.ts';
import {hasErrors} from '../files/diagnostic.ts';
import type {Session} from '../files/session.ts';
import {SPEND_FILE} from '../files/spent.ts';
import type {Outcome} from '../queue.ts';
import type {Completed} from '../reconcile/complete.ts';
import {isComplete} from '../reconcile/session.ts';
import {completeTasks} from '../reconcile/task.ts';
import {mayWork, workOf} from '../reconcile/turn.ts';
import {linkTarget} from '../store/read.ts';
import {causeOf, settleQueue, settleSpend} from './own-files.ts';
import {proceed} from './proceed.ts';
import {recordOwn} from './record.ts';
import type {Seen} from './seen.ts';
import type {Serving} from './serving.ts';
import {take} from './state.ts';
import {replaceText} from './write.ts';

const WAIT_MS = 500;

/**
 * Do what follows from a file: fill in what a person left out, go on with a session. The file has no errors.
 * `recorded`: when the person's own edit is in the journal.
 */
export async function complete(serving: Serving, seen: Seen, recorded?: Promise<void>): Promise<Outcome> {
  const {path, parsed} = seen;
  const trouble = `complete ${path}`;
  serving.nudged.delete(path);
  try {
    // A file that is kept elsewhere is read, and never written.
    const own = linkTarget(serving.home, path) === undefined && !path.startsWith('sessions/archive/');
    const isSession = own && parsed?.kind === 'session';
    const outcome = isSession ? await proceed(serving, seen, recorded) : await fillIn(serving, seen, own, recorded);
    serving.troubles.set(trouble, undefined);
    return outcome;
  } catch (error) {
    // An edit that would lose a comment or change how other lines are read is refused, and left to the person.
    if (!(error instanceof UserError || error instanceof RangeError)) throw error;
    serving.troubles.set(trouble, `${path} cannot be gone on with: ${error.message}. Write it in the plain way`);
    // Nobody could write the answer down. The next start tells of it again.
    serving.turns.drop(path);
    return undefined;
  }
}

async function fillIn(serving: Serving, seen: Seen, own: boolean, recorded?: Promise<void>): Promise<Outcome> {
  const {path} = seen;
  await recorded;
  const completed = own ? await decide(serving, seen) : undefined;
  if (completed) {
    // A rebase or merge does not go on over files that change meanwhile.
    if (serving.journal.unfinished()) return {after: WAIT_MS};
    const written = await replaceText(serving, seen, completed.text);
    if ('outcome' in written) return written.outcome;
    take(serving, written.seen);
    recordOwn(serving, written.seen, {...completed, cause: causeOf(path)});
  }
  return settle(serving, path);
}

async function decide(serving: Serving, {path, parsed}: Seen): Promise<Completed | undefined> {
  if (parsed?.kind === 'tasks') return completeTasks(parsed.file, {now: new Date().toISOString(), newId});
  if (parsed?.kind === 'queue' && path === APPROVALS_FILE) return settleQueue(serving, parsed.file);
  return parsed?.kind === 'state' && path === SPEND_FILE ? settleSpend(serving, parsed.file) : undefined;
}

function settle(serving: Serving, path: string): Outcome {
  const known = serving.known.get(path);
  if (known) known.settled = !serving.nudged.has(path);
  serving.unsaved = true;
  return undefined;
}

/** Whether it is plain, from the file alone, that nothing is left to do. */
export function leavesNothing({path, parsed, facts}: Seen): boolean {
  if (hasErrors(facts.problems)) return false;
  if (parsed?.kind === 'session') return path.startsWith('sessions/archive/') || isAtRest(parsed.file);
  return parsed?.kind !== 'tasks';
}

function isAtRest(session: Session): boolean {
  const {status} = session.header ?? {};
  if (!isComplete(session)) return false;
  return !mayWork(status) || (status === 'sleeping' && workOf(session).do === 'rest');
}

/** 60 random bits, in letters and digits that are hard to misread. */
function newId(): string {
  const letters = '0123456789abcdefghjkmnpqrstvwxyz';
  return `task-${[...randomBytes(12)].map(byte => letters[byte % 32]).join('')}`;
}
