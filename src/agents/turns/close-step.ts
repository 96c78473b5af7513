import {withHeader} from '../../decide/turn.ts';
import type {Session} from '../../formats/session/session.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {SessionStep} from '../sessions/step.ts';
import type {With} from '../state/parts.ts';
import type {Turns} from '../state/turns.ts';

/**
 * Complete the session of an agent that was created for a task, because the task is done. Questions and calls under way
 * finish first; a wait or an error does not keep the session open.
 */
export function closeSession({files, turns}: With<'files' | 'turns'>, session: string): void {
  const path = files.index.definitionsOf(`session/${session}`)[0]?.path;
  if (path === undefined || turns.closing.has(path)) return;
  turns.closing.add(path);
  lookAgain(files, path);
}

const CLOSES: ReadonlySet<string> = new Set(['sleeping', 'waiting', 'error']);

/** Clears `ephemeral`, so that a session which a person reopens is not closed again. */
export function closeStep(turns: Turns, path: string, session: Session, now: string): SessionStep | undefined {
  if (!turns.closing.has(path) || session.header?.ephemeral !== true) return undefined;
  if (!CLOSES.has(session.header.status ?? '') || turns.has(path)) return undefined;
  return {
    session: withHeader(session, {status: 'completed', ephemeral: false, waiting_for: undefined}, now),
    entry: {words: 'completed with its task', cause: 'task'},
    done: () => void turns.closing.delete(path),
  };
}
