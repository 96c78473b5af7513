import {historyProblems} from '../../../check/session-history.ts';
import {hasErrors} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {parseSession} from '../../../formats/session/session.ts';
import type {Message, SessionHeader} from '../../../formats/session/session-schema.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {blobId} from '../../../home/git/blob-id.ts';
import {lastChange, lastText, removedSessions, sessionsAt, textAtCommit} from '../../../home/past-session.ts';
import {readHomeFile} from '../../../home/read.ts';
import {listSessions} from '../../../home/session-files.ts';
import {fileError} from '../talk/file-error.ts';
import {oneOf} from '../talk/one-of.ts';

/** A session as it is or was, with all its messages. */
export interface Source {
  id: string;
  path: string;
  /** Undefined if the current state is not committed. */
  commit: string | undefined;
  header: SessionHeader;
  messages: readonly Message[];
  /** Segments: the number of messages up to each, and whether it is unchanged and complete. */
  segments: readonly {path: string; end: number; shared: boolean}[];
}

/** Reads the session as of `commit`; without one the current state, or the last of a removed session. */
export async function sourceOf(home: string, wanted: string, commit: string | undefined): Promise<Source> {
  const text = commit === undefined ? await textNow(home, wanted) : await textThen(home, wanted, commit);
  const {path} = text;
  const session = parseSession(text.text);
  const problems = [...session.problems, ...historyProblems(path, session)];
  if (hasErrors(problems) || !session.header) {
    const {message, exitCode, hint} = fileError(path, problems);
    const other = `; as it was: agentdir fork ${text.id} --at COMMIT (agentdir log ${text.id})`;
    throw new UserError(message, exitCode, `${hint}${other}`);
  }
  const messages: Message[] = [];
  const segments: {path: string; end: number; shared: boolean}[] = [];
  for (const segment of session.header.segments ?? []) {
    const read = readHomeFile(nodeDisk(home), segment);
    const now = read && 'text' in read ? read.text : undefined;
    const then = text.past ? await textAtCommit(home, text.past, segment) : now;
    const found = then ?? now ?? (await lastText(home, segment));
    if (found === undefined) throw new UserError(`${segment}, with older messages, is not there`, exit.failed);
    const older = parseSession(found).messages;
    messages.push(...older);
    segments.push({path: segment, end: messages.length, shared: now === found && isWhole(older)});
  }
  messages.push(...session.messages);
  return {id: text.id, path, commit: text.commit, header: session.header, messages, segments};
}

/** Whether each call has its result; a person may have separated them. */
function isWhole(messages: readonly Message[]): boolean {
  const answered = new Set(messages.map(({tool_call_id}) => tool_call_id));
  return messages.every(({tool_calls = []}) => tool_calls.every(({id}) => answered.has(id)));
}

interface Text {
  id: string;
  path: string;
  text: string;
  commit: string | undefined;
  /** Read from this commit instead of the disk. */
  past: string | undefined;
}

async function textNow(home: string, wanted: string): Promise<Text> {
  const sessions = listSessions(home);
  const isThere = sessions.some(({id}) => id.includes(wanted.replace(/^@/, '')));
  // Search the history only if there is no such file.
  const removed = isThere ? [] : await removedSessions(home);
  const all = [...sessions, ...removed].map(({id}) => id);
  const id = oneOf('session', wanted, all, 'see agentdir list');
  const file = sessions.find(session => session.id === id);
  if (!file) {
    const past = removed.find(session => session.id === id);
    const text = past && (await textAtCommit(home, past.commit, past.path));
    if (!past || text === undefined) throw new UserError(`${id} cannot be read from the journal`, exit.failed);
    return {...past, text, past: past.commit};
  }
  const read = readHomeFile(nodeDisk(home), file.path);
  if (!read) throw new UserError(`${file.path} is gone`, exit.failed, 'agentdir list');
  if (!('text' in read)) throw fileError(file.path, [read.problem]);
  const commit = await lastChange(home, file.path, blobId(read.bytes));
  return {...file, text: read.text, commit, past: undefined};
}

async function textThen(home: string, wanted: string, commit: string): Promise<Text> {
  const sessions = await sessionsAt(home, commit);
  const short = commit.slice(0, 7);
  const known = sessions.map(({id}) => id);
  const id = oneOf(
    `session at ${short}`,
    wanted,
    known,
    `it was not there then, or removed by it: try ${short}^, or agentdir log ${wanted}`,
  );
  const past = sessions.find(session => session.id === id);
  const text = past && (await textAtCommit(home, commit, past.path));
  if (!past || text === undefined) throw new UserError(`${id} cannot be read from ${short}`, exit.failed);
  return {...past, text, past: commit};
}
