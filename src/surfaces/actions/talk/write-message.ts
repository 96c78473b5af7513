import {exit, UserError} from '../../../formats/common/errors.ts';
import {sessionText} from '../../../formats/session/session.ts';
import {appendMessage, setSessionField} from '../../../formats/session/session-edit.ts';
import type {Message, SessionStatus} from '../../../formats/session/session-schema.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {waitForLock} from '../../../home/disk/lock.ts';
import {editFile} from '../../../home/edit-file.ts';
import type {SessionFile} from '../../../home/session-files.ts';
import {agentName} from './find-agent.ts';
import {findSharedSession, readSession, sessionFile} from './find-session.ts';
import {makeSession} from './make-session.ts';

export interface MessageToSend {
  home: string;
  content: string;
  /** Any unique part of a session id; default: the agent's shared session. */
  session: string | undefined;
  agent: string | undefined;
  /** In a fresh session for this message alone. */
  task?: boolean;
}

export interface SentMessage extends SessionFile {
  message: Message;
  status: SessionStatus;
  /** Segments of the session. */
  segments: number;
}

const TRY_MS = 10_000;

/** Appends a message to a session. */
export async function writeMessage({home, content, session, agent, task = false}: MessageToSend): Promise<SentMessage> {
  if (session !== undefined) {
    const file = sessionFile(home, session);
    if (agent !== undefined) refuseOther(home, file, agentName(home, agent));
    return append(home, file, content);
  }
  const name = agentName(home, agent);
  if (task) return begin({home, name, content, task});
  // A lock, so that two commands do not create two sessions.
  const lock = await waitForLock(nodeDisk(home), `.agentdir/locks/shared-${name}`, TRY_MS);
  if ('heldBy' in lock) throw new UserError(`process ${lock.heldBy.pid} is making a session of ${name}`);
  try {
    const shared = findSharedSession(home, name);
    if (shared) return await append(home, shared, content);
    return await begin({home, name, content, task});
  } finally {
    lock.release();
  }
}

/** Creates a session with the message. */
async function begin({
  home,
  name,
  content,
  task,
}: {
  home: string;
  name: string;
  content: string;
  task: boolean;
}): Promise<SentMessage> {
  // Load the template reader only for a new session.
  const agent = (await import('./read-agent.ts')).agentNamed(home, name);
  const now = new Date().toISOString();
  const message = personal(content, now);
  const shared = !task && agent.template.context !== 'fresh';
  const made = await makeSession({home, agent, shared, task, message, now});
  return {...made, message, status: 'active', segments: 0};
}

function personal(content: string, now: string): Message {
  return {timestamp: now, role: 'user', from: 'human', content};
}

function refuseOther(home: string, file: SessionFile, agent: string): void {
  const found = readSession(home, file)?.header.agent_id;
  if (found !== undefined && found !== agent)
    throw new UserError(`${file.id} is a session of ${found}, not of ${agent}`, exit.usage, 'omit --to');
}

function append(home: string, file: SessionFile, content: string): Promise<SentMessage> {
  const {id, path} = file;
  return editFile(home, path, () => {
    const found = readSession(home, file);
    if (!found) throw new UserError(`${path} is gone`, exit.failed, 'see agentdir list');
    const {header} = found;
    if (header.status === 'completed')
      throw new UserError(
        `${id} is completed: it takes no more messages`,
        exit.failed,
        `set "status: active" in ${path} to continue it, or start another: agentdir new ${header.agent_id}`,
      );
    const now = new Date().toISOString();
    const message = personal(content, now);
    const status = header.status === 'paused' || header.status === 'waiting' ? header.status : 'active';
    let next = appendMessage(found.session, message);
    if (header.status !== status) next = setSessionField(next, 'status', status);
    if (header.cancelled !== undefined) next = setSessionField(next, 'cancelled', undefined);
    // A new message clears the error.
    if (status === 'active' && header.error !== undefined) next = setSessionField(next, 'error', undefined);
    return {
      expected: found.bytes,
      // Keep `updated`: it identifies the version that was edited.
      text: sessionText(next),
      saved: () => ({
        id,
        path,
        message,
        status,
        segments: header.segments?.length ?? 0,
      }),
    };
  });
}
