import {nextSessionAction} from '../../../decide/turn.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {sessionText} from '../../../formats/session/session.ts';
import {setSessionFields} from '../../../formats/session/session-edit.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {moveFile} from '../../../home/move.ts';
import type {SessionFile} from '../../../home/session-files.ts';
import {notWritten} from '../../../home/write-failure.ts';
import {readSession} from '../talk/find-session.ts';

/** A session that was moved out of the way. */
export interface ArchivedSession extends SessionFile {
  agent: string;
  /** Where it was. */
  from: string;
}

const FOLDER = 'sessions/archive/';

/**
 * Moves a session to sessions/archive/, as completed: it is kept whole and takes no more messages. `force`: also while it is
 * at work, which ends its turn.
 */
export async function archiveSession(home: string, file: SessionFile, force: boolean): Promise<ArchivedSession> {
  const {id, path} = file;
  if (path.startsWith(FOLDER)) throw new UserError(`${id} is archived already: ${path}`, exit.failed);
  const found = readSession(home, file);
  if (!found) throw new UserError(`${path} is gone`, exit.failed, 'see agentdir list');
  const {header, session, bytes} = found;
  const isAtWork = header.status === 'waiting' || header.status === undefined || header.status === 'active';
  if (isAtWork && nextSessionAction(session).do !== 'rest' && !force)
    throw new UserError(
      `${id} is at work (${header.status ?? 'new'}); nothing was moved`,
      exit.failed,
      `cancel its turn first: agentdir cancel ${id}; or agentdir rm ${id} --force`,
    );
  // In the folder itself, its name would be that of a segment.
  const to = `${FOLDER}${header.parent ? 'tasks/' : ''}${id}.session.yaml`;
  const text = sessionText(setSessionFields(session, {status: 'completed'}));
  const moved = await moveFile(nodeDisk(home), {from: path, expected: bytes, to, bytes: Buffer.from(text)});
  if ('failed' in moved) throw notWritten(to, moved.failed);
  if ('changed' in moved) throw new UserError(`${to} is there already; nothing was moved`, exit.failed);
  return {id, agent: header.agent_id, path: to, from: path};
}
