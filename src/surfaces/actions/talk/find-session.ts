import {historyProblems} from '../../../check/session-history.ts';
import {hasErrors} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {sessionPlaceOf} from '../../../formats/run.ts';
import {parseSession, type Session} from '../../../formats/session/session.ts';
import type {SessionHeader} from '../../../formats/session/session-schema.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {readHomeFile} from '../../../home/read.ts';
import {listSessions, type SessionFile, sessionHead} from '../../../home/session-files.ts';
import {fileError} from './file-error.ts';
import {oneOf} from './one-of.ts';

/** A session as it is on disk. */
export interface FoundSession extends SessionFile {
  session: Session;
  header: SessionHeader;
  bytes: Buffer;
}

/** By any unique part of its id. */
export function sessionFile(home: string, wanted: string): SessionFile {
  const sessions = listSessions(home);
  const id = oneOf(
    'session',
    wanted,
    sessions.map(session => session.id),
    'see agentdir list',
  );
  const [first, second] = sessions.filter(session => session.id === id);
  if (first && second)
    throw new UserError(`two files have the id ${id}: ${first.path}, ${second.path}`, exit.badFile, 'agentdir check');
  return first as SessionFile;
}

/** Undefined if the file is gone. Throws if it has errors. */
export function readSession(home: string, {id, path}: SessionFile, previous?: Session): FoundSession | undefined {
  const read = readHomeFile(nodeDisk(home), path);
  if (!read) return undefined;
  if (!('text' in read)) throw fileError(path, [read.problem]);
  const session = parseSession(read.text, previous);
  const problems = [...session.problems, ...historyProblems(path, session)];
  if (hasErrors(problems) || !session.header) throw fileError(path, problems);
  return {id, path, session, header: session.header, bytes: read.bytes};
}

/** The agent's first session with `shared: true` that is not completed. */
export function findSharedSession(home: string, agent: string): SessionFile | undefined {
  const own = sessionPlaceOf(agent).folder;
  const sessions = listSessions(home);
  // Look in the agent's folder first.
  for (const inOwn of [true, false])
    for (const file of sessions) if (file.path.startsWith(own) === inOwn && isShared(home, file, agent)) return file;
  return undefined;
}

function isShared(home: string, file: SessionFile, agent: string): boolean {
  const head = sessionHead(home, file.path);
  if (!head?.includes('shared') || !head.includes(agent)) return false;
  const read = readHomeFile(nodeDisk(home), file.path);
  const header = read && 'text' in read ? parseSession(read.text).header : undefined;
  if (header) return header.agent_id === agent && header.shared === true && header.status !== 'completed';
  // A shared session with errors counts, so that no second one is created.
  return /^shared:[ \t]*true\b/m.test(head) && new RegExp(`^agent_id:[ \\t]*["']?${quoted(agent)}\\b`, 'm').test(head);
}

function quoted(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
