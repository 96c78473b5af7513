import type {ApprovalState} from '../formats/approval/approval-state.ts';
import {isChildId} from '../formats/session/child-session.ts';
import type {Session} from '../formats/session/session.ts';
import type {SessionHeader} from '../formats/session/session-schema.ts';
import {afterWait} from './after-wait.ts';
import type {ReachedLimit} from './limits.ts';
import {withHeader} from './turn.ts';

/** The next version of a session, and its journal text. */
export interface ChangedSession {
  session: Session;
  words: string;
}

/** Make the session wait for a person to raise the limit. */
export function waitForMore(session: Session, reached: ReachedLimit, now: string): ChangedSession {
  return changed(session, {status: 'waiting', waiting_for: reached.id}, now, `waits for ${reached.id}`);
}

/** End the wait of a session. Undefined: it still waits, or does not wait. */
export function endWait(
  session: Session,
  {
    state,
    reached,
    now,
  }: {state: (id: string) => ApprovalState | undefined; reached: Iterable<ReachedLimit>; now: string},
): ChangedSession | undefined {
  const {status, waiting_for: id} = session.header ?? {};
  if (id === undefined || isChildId(id)) return undefined;
  // A person has set another status. The limits are checked again before the next question.
  if (status !== 'waiting') return changed(session, {waiting_for: undefined}, now, `no longer waits for ${id}`);
  const requestState = state(id);
  const next = afterWait(id, requestState, reached);
  if (next === 'wait') return undefined;
  if (next === 'pause')
    return changed(session, {status: 'paused', waiting_for: undefined}, now, `paused, since ${id} was rejected`);
  const why = requestState === 'approved' ? 'was approved' : 'is not needed any more';
  return changed(session, {status: 'active', waiting_for: undefined}, now, `goes on, since ${id} ${why}`);
}

function changed(session: Session, keys: Partial<SessionHeader>, now: string, words: string): ChangedSession {
  return {session: withHeader(session, keys, now), words};
}
