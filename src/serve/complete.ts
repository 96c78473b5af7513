import {UserError} from '../errors.ts';
import {APPROVALS_FILE} from '../files/approval/approval-item.ts';
import {blocks} from '../files/diagnostic.ts';
import type {Session} from '../files/session/session.ts';
import {SPEND_FILE} from '../files/spent.ts';
import type {Outcome} from '../queue.ts';
import type {Completed} from '../reconcile/complete.ts';
import {isComplete} from '../reconcile/session.ts';
import {mayWork, workOf} from '../reconcile/turn.ts';
import {linkTarget} from '../store/read.ts';
import {settleArchive} from './approvals/archive.ts';
import {settlePolicy} from './approvals/new-rules.ts';
import {settlePage} from './approvals/pages.ts';
import {settleMemory} from './calls/remember.ts';
import {settleSlots} from './inbox/due-slots.ts';
import {settleCursor, settleRejected} from './inbox/inbox-cursor.ts';
import {entryOf, settleQueue, settleSpend} from './own-files.ts';
import type {Seen} from './seen.ts';
import type {Serving} from './serving.ts';
import {take} from './state.ts';
import {followTasks, settleTasks} from './tasks/tasks.ts';
import {owesNews} from './turns/at-work.ts';
import {proceed} from './turns/proceed.ts';
import {replaceText} from './write.ts';

const WAIT_MS = 500;

/**
 * Do what follows from a file: fill in what a person left out, go on with a session. The file has no errors.
 */
export async function complete(serving: Serving, seen: Seen): Promise<Outcome> {
  const {path, parsed} = seen;
  const trouble = `complete ${path}`;
  serving.nudged.delete(path);
  try {
    // A file that is kept elsewhere is read, and never written.
    const own = linkTarget(serving.disk, path) === undefined && !path.startsWith('sessions/archive/');
    const isSession = own && parsed?.kind === 'session';
    const outcome = isSession ? await proceed(serving, seen) : await fillIn(serving, seen, own);
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

async function fillIn(serving: Serving, seen: Seen, own: boolean): Promise<Outcome> {
  const {path, parsed} = seen;
  if (own && parsed?.kind === 'approval') {
    const outcome = await settlePage(serving, seen);
    return outcome ?? settle(serving, path);
  }
  const completed = own ? await decide(serving, seen) : undefined;
  if (completed) {
    // A rebase or merge does not go on over files that change meanwhile.
    if (serving.journal.unfinished()) return {after: WAIT_MS};
    const before = (completed.before ?? []).map(step => ({entry: entryOf(path, step), text: step.text}));
    const steps = [...before, {entry: entryOf(path, completed)}];
    const written = await replaceText(serving, seen, completed.text, {steps});
    if ('outcome' in written) return written.outcome;
    take(serving, written.seen);
    completed.written?.();
    return follow(serving, written.seen);
  }
  return follow(serving, seen);
}

/** Of a task file: what is to be done about its tasks. */
async function follow(serving: Serving, {path, parsed}: Seen): Promise<Outcome> {
  const left = parsed?.kind === 'tasks' && (await followTasks(serving, path, parsed.file));
  const outcome = settle(serving, path);
  const known = serving.known.get(path);
  if (known && left) known.settled = false;
  return outcome;
}

async function decide(serving: Serving, {path, parsed, text}: Seen): Promise<Completed | undefined> {
  if (parsed?.kind === 'tasks') return settleTasks(serving, path, parsed.file);
  if (parsed?.kind === 'queue' && path === APPROVALS_FILE) return settleQueue(serving, parsed.file);
  if (parsed?.kind === 'queue') return settleArchive(serving, path, parsed.file);
  if (parsed?.kind === 'memory') return settleMemory(serving, path, text ?? '');
  if (parsed?.kind === 'policy') return settlePolicy(serving, parsed.file.text);
  if (parsed?.kind === 'cursor') return settleCursor(serving, path, parsed.file);
  if (parsed?.kind === 'slots') return settleSlots(serving, parsed.file);
  if (parsed?.kind === 'rejected') return settleRejected(serving, path, parsed.file);
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
  if (blocks(facts.problems)) return false;
  if (parsed?.kind === 'session') return path.startsWith('sessions/archive/') || isAtRest(parsed.file);
  return parsed?.kind !== 'tasks';
}

function isAtRest(session: Session): boolean {
  const {status} = session.header ?? {};
  if (!isComplete(session) || owesNews(session)) return false;
  return !mayWork(session.header) || (status === 'sleeping' && workOf(session).do === 'rest');
}
