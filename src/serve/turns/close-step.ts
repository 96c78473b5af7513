import type {Session} from '../../files/session/session.ts';
import {withHeader} from '../../reconcile/turn.ts';
import {lookAgain} from '../look-again.ts';
import type {Serving} from '../serving.ts';
import type {Step} from './step.ts';

/**
 * The task of an agent that was made for it is done: its session is completed, once what it is at is over. What it waits
 * for, or could not do, is of no use any more.
 */
export function closeSession(serving: Serving, session: string): void {
  const path = serving.index.definitionsOf(`session/${session}`)[0]?.path;
  if (path === undefined || serving.closing.has(path)) return;
  serving.closing.add(path);
  lookAgain(serving, path);
}

const CLOSES: ReadonlySet<string> = new Set(['sleeping', 'waiting', 'error']);

/** A person may go on with it afterwards: it is not closed again. */
export function closeStep(serving: Serving, path: string, session: Session, now: string): Step | undefined {
  if (!serving.closing.has(path) || session.header?.ephemeral !== true) return undefined;
  if (!CLOSES.has(session.header.status ?? '') || serving.turns.has(path)) return undefined;
  return {
    session: withHeader(session, {status: 'completed', ephemeral: false, waiting_for: undefined}, now),
    entry: {words: 'completed with its task', cause: 'task'},
    done: () => void serving.closing.delete(path),
  };
}
