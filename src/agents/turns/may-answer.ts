import type {TaskFact} from '../../check/task-facts.ts';
import {awaitedNames} from '../../decide/awaited.ts';
import {stemOf} from '../../formats/common/key.ts';
import {parseSession, type Session} from '../../formats/session/session.ts';
import {versionText} from '../../loop/accept-version.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {agentExists} from '../mail/agents.ts';
import {openSession} from '../mail/receivers.ts';
import {receiverFor} from '../mail/send.ts';
import type {With} from '../state/parts.ts';
import {hasUndeliveredNews, isAtWork, tasksCreated} from './at-work.ts';

/**
 * The path of a session at work because of which `agent` may still answer a message from session `of`: the agent's own
 * session, or one that it waits for, directly or indirectly. Undefined: all of them are at rest. `visited` holds the
 * paths that were checked, against cycles. Calls `onFound` with the file whose change may end the wait, before it can change.
 */
export async function sessionThatMayAnswer(
  daemon: With<'files' | 'mail'>,
  of: Session,
  agent: string,
  visited: Set<string>,
  onFound: (path: string) => void,
): Promise<string | undefined> {
  const {files} = daemon;
  if (!agentExists(files, agent)) return undefined;
  return findSessionAtWork(daemon, receiverFor(files, of, agent).path, visited, onFound);
}

async function findSessionAtWork(
  daemon: With<'files' | 'mail'>,
  path: string,
  visited: Set<string>,
  onFound: (path: string) => void,
): Promise<string | undefined> {
  const {files} = daemon;
  if (visited.has(path)) return undefined;
  visited.add(path);
  const found = (file = path) => {
    onFound(file);
    return path;
  };
  if (isAtWork(daemon, path)) return found();
  const blob = files.known.get(path)?.good;
  const text = blob === undefined ? undefined : await versionText(files, blob, path);
  if (files.known.get(path)?.good !== blob) {
    visited.delete(path);
    return findSessionAtWork(daemon, path, visited, onFound);
  }
  if (text === undefined) return undefined;
  const session = parseSession(text);
  if (hasUndeliveredNews(session)) return found();
  for (const {file, task} of tasksCreated(files, session.header?.session_id ?? stemOf(path))) {
    const other = workingSession(files, task);
    // No session works on the task, or its file does not say so yet. Any change to that file may end the wait.
    const atWork = other === undefined ? found(file) : await findSessionAtWork(daemon, other, visited, onFound);
    if (atWork !== undefined) return atWork;
  }
  for (const other of awaitedNames(session.messages)) {
    const atWork = await sessionThatMayAnswer(daemon, session, other, visited, onFound);
    if (atWork !== undefined) return atWork;
  }
  return undefined;
}

/** The open session that works on the task, unless the task has stalled. */
function workingSession(files: HomeFiles, {state, stalled, session}: TaskFact): string | undefined {
  return state === 'in_progress' && stalled === undefined ? openSession(files, session) : undefined;
}
