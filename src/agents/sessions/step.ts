import type {ChangedSession} from '../../decide/budget.ts';
import type {Session} from '../../formats/session/session.ts';
import type {DaemonEntry} from '../../loop/planned-write.ts';

/** The next version of a session, and its journal entry. */
export interface SessionStep {
  session: Session;
  entry: DaemonEntry;
  /** Called when the file is written, to report the step. */
  written?: () => void;
  /** Called after `written`, once the new version is accepted. */
  done?: () => void;
  /** A further step in the same file write, with its own commit. */
  then?: SessionStep | undefined;
}

/** Begin or end the wait for a person to raise a limit. */
export function limitStep({session, words}: ChangedSession, approval: string): SessionStep {
  return {session, entry: {words, cause: 'limit', trailers: [['Approval', approval]]}};
}
