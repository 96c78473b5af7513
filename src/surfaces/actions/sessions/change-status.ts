import {nextAction, withResults} from '../../../decide/turn.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {type Session, sessionText} from '../../../formats/session/session.ts';
import {setKeysInMessage, setSessionFields} from '../../../formats/session/session-edit.ts';
import type {Call, SessionStatus} from '../../../formats/session/session-schema.ts';
import {editFile} from '../../../home/edit-file.ts';
import type {SessionFile} from '../../../home/session-files.ts';
import {type FoundSession, readSession} from '../talk/find-session.ts';

/** What a person did to a session. */
export interface StatusChange extends SessionFile {
  agent: string;
  before: SessionStatus | 'new';
  status: SessionStatus;
  /** False: it was so already, and nothing was written. */
  changed: boolean;
}

/** Stops a session until it is resumed: nothing is asked or run for it. */
export function pauseSession(home: string, file: SessionFile): Promise<StatusChange> {
  return change(home, file, ({header}) => {
    refuseCompleted(file, header.status);
    return header.status === 'paused' ? undefined : {status: 'paused', edit: session => session};
  });
}

/** Ends the task of a session, which the daemon then reports to whoever gave it; pauses any other session. */
export function stopSession(home: string, file: SessionFile): Promise<StatusChange> {
  const found = foundNow(home, file);
  if (found.header.kind !== 'task' || found.header.result !== undefined) return pauseSession(home, file);
  return change(home, file, ({header}) =>
    header.status === 'completed' ? undefined : {status: 'completed', edit: session => session},
  );
}

/** Lets a session that is paused, or ended in an error, go on where it was. */
export function resumeSession(home: string, file: SessionFile): Promise<StatusChange> {
  return change(home, file, ({header}) => {
    refuseCompleted(file, header.status);
    if (header.status !== 'paused' && header.status !== 'error') return undefined;
    return {
      status: 'active',
      edit: session => (header.error === undefined ? session : setSessionFields(session, {error: undefined})),
    };
  });
}

/**
 * Ends the turn under way, and keeps the session open: the question is dropped, running calls are ended by the daemon,
 * and calls that have not begun get a result that says so. The next message wakes the session.
 */
export function cancelTurn(home: string, file: SessionFile): Promise<StatusChange> {
  return change(home, file, found => {
    const {header, session} = found;
    refuseCompleted(file, header.status);
    if (header.status === 'paused' || header.status === 'error' || !isUnderWay(found)) return undefined;
    return {
      status: 'sleeping',
      edit: () => {
        const now = new Date().toISOString();
        const ended = dated(withoutOpenCalls(session, now), now);
        return setSessionFields(ended, {
          ...(header.waiting_for !== undefined && {waiting_for: undefined}),
          cancelled: ended.messages.at(-1)?.timestamp ?? now,
        });
      },
    };
  });
}

function isUnderWay({header, session}: FoundSession): boolean {
  return header.status !== 'sleeping' && nextAction(session.messages).do !== 'rest';
}

interface WantedChange {
  status: SessionStatus;
  edit: (session: Session) => Session;
}

async function change(
  home: string,
  file: SessionFile,
  wanted: (found: FoundSession) => WantedChange | undefined,
): Promise<StatusChange> {
  const told = ({header}: FoundSession) => ({
    ...file,
    agent: header.agent_id,
    before: header.status ?? ('new' as const),
  });
  const found = foundNow(home, file);
  if (!wanted(found)) return {...told(found), status: found.header.status ?? 'active', changed: false};
  return editFile(home, file.path, () => {
    const now = foundNow(home, file);
    const to = wanted(now);
    const next = to ? setSessionFields(to.edit(now.session), {status: to.status}) : now.session;
    const status = to?.status ?? now.header.status ?? 'active';
    return {
      expected: now.bytes,
      text: sessionText(next),
      saved: () => ({...told(now), status, changed: to !== undefined}),
    };
  });
}

function foundNow(home: string, file: SessionFile): FoundSession {
  const found = readSession(home, file);
  if (!found) throw new UserError(`${file.path} is gone`, exit.failed, 'see agentdir list');
  return found;
}

function refuseCompleted({id, path}: SessionFile, status: SessionStatus | undefined): void {
  if (status === 'completed')
    throw new UserError(`${id} is completed`, exit.failed, `to continue it, set "status: active" in ${path}`);
}

/** A call that has begun gets its result from the daemon, which ends it. */
function withoutOpenCalls(session: Session, now: string): Session {
  const next = nextAction(session.messages);
  if (next.do !== 'call') return session;
  const open = next.open.calls.filter(({started}) => started === undefined);
  return withResults(
    session,
    next.open,
    open.map(call => cancelledResult(call, now)),
  );
}

function cancelledResult({id}: Call, now: string) {
  const content = JSON.stringify({
    success: false,
    code: 'CANCELLED',
    error: 'a person cancelled the turn; nothing was run',
  });
  return {timestamp: now, role: 'tool_result' as const, tool_call_id: id, content};
}

/** The last message needs a time, because `cancelled` names it by that. */
function dated(session: Session, now: string): Session {
  const last = session.messages.length - 1;
  if (last < 0 || session.messages[last]?.timestamp !== undefined) return session;
  return setKeysInMessage(session, last, [], {timestamp: now});
}
