import type {ChangedSession} from '../../decide/budget.ts';
import type {Session} from '../../formats/session/session.ts';
import type {DaemonEntry} from '../../loop/planned-write.ts';

/** A session as it is to be written, and what the journal says of it. */
export interface SessionStep {
  session: Session;
  entry: DaemonEntry;
  /** As soon as it is in the file: tell of it. */
  written?: () => void;
  /** Then, once it is known to be there. */
  done?: () => void;
  /** What follows from it at once: a commit of its own, written together. */
  then?: SessionStep | undefined;
}

/** Begin to wait for a person to grant more, or end it. */
export function limitStep({session, words}: ChangedSession, approval: string): SessionStep {
  return {session, entry: {words, cause: 'limit', trailers: [['Approval', approval]]}};
}
