import {UserError} from '../common/errors.ts';
import type {Kind} from '../common/key.ts';
import {merge} from '../merge/merge.ts';
import {type SessionUndo, statusOverlap, undoInSession, whatSessionLoses} from './undo-session.ts';
import {type TasksUndo, undoInTasks} from './undo-tasks.ts';

export type TextUndo =
  | {text: string; session?: SessionUndo; tasks?: TasksUndo}
  /** The change is never undone, or not by itself. */
  | {refused: string}
  /** Later changes affect the same parts, in words. */
  | {overlaps: string[]};

/** Undo the change from `before` to `after` in `now`, keeping later changes, like a stale save. Must not throw. */
export function undoText(kind: Kind, before: string, after: string, now: string): TextUndo {
  try {
    const session = kind === 'session' ? undoInSession(before, after, now) : undefined;
    if (session && 'refused' in session) return session;
    const tasks = kind === 'tasks' ? undoInTasks(before, after) : undefined;
    const wanted = session?.text ?? tasks?.text ?? before;
    const base = session?.after ?? after;
    const stays = (session ?? tasks)?.stays ?? [];
    // A change that only moves lines is a person's edit, if nothing else stays.
    if (wanted === base || (stays.length > 0 && sameLines(wanted, base))) return {refused: stays.join('; ') || NOTHING};
    const status = kind === 'session' ? statusOverlap(before, after, now) : undefined;
    if (status !== undefined) return {overlaps: [status]};
    const {text, conflicts} = merge(kind, base, session?.whole ?? wanted, now);
    if (conflicts.length > 0) return {overlaps: conflicts.map(conflictReason)};
    const lost = kind === 'session' ? whatSessionLoses(now, text) : undefined;
    if (lost !== undefined) return {refused: lost};
    return {text, ...(session && {session}), ...(tasks && {tasks})};
  } catch (error) {
    if (!(error instanceof UserError || error instanceof RangeError)) throw error;
    return {refused: error.message};
  }
}

/** Whether the texts differ only in the order of lines. */
function sameLines(a: string, b: string): boolean {
  const sorted = (text: string) => text.split('\n').sort().join('\n');
  return a === b || sorted(a) === sorted(b);
}

const NOTHING = 'it only wrote down where things stood';

/** Drop what a merge would do about the conflict. */
function conflictReason(conflict: string): string {
  return conflict.replace(/;[^;]*$/, '');
}
