import type {ApprovalState} from '../formats/approval/approval-state.ts';
import type {Session} from '../formats/session/session.ts';
import type {SessionHeader} from '../formats/session/session-schema.ts';
import {afterWait} from './after-wait.ts';
import type {ReachedLimit} from './limits.ts';
import {withHeader} from './turn.ts';

/** A session as it is to be written, and why. */
export interface ChangedSession {
  session: Session;
  words: string;
}

/** The session as it waits for a person to grant more. */
export function waitForMore(session: Session, reached: ReachedLimit, now: string): ChangedSession {
  return changed(session, {status: 'waiting', waiting_for: reached.id}, now, `waits for ${reached.id}`);
}

/** What a session does when its wait is over. Undefined: it goes on waiting, or does not wait. */
export function endWait(
  session: Session,
  {
    state,
    reached,
    now,
  }: {state: (id: string) => ApprovalState | undefined; reached: Iterable<ReachedLimit>; now: string},
): ChangedSession | undefined {
  const {status, waiting_for: id} = session.header ?? {};
  if (id === undefined) return undefined;
  // A person has set another status; the engine looks at the limits again when it has something to do.
  if (status !== 'waiting') return changed(session, {waiting_for: undefined}, now, `no longer waits for ${id}`);
  const became = state(id);
  const next = afterWait(id, became, reached);
  if (next === 'wait') return undefined;
  if (next === 'pause')
    return changed(session, {status: 'paused', waiting_for: undefined}, now, `paused, since ${id} was rejected`);
  const why = became === 'approved' ? 'was approved' : 'is not needed any more';
  return changed(session, {status: 'active', waiting_for: undefined}, now, `goes on, since ${id} ${why}`);
}

function changed(session: Session, keys: Partial<SessionHeader>, now: string, words: string): ChangedSession {
  return {session: withHeader(session, keys, now), words};
}
