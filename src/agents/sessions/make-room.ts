import {hasBatches} from '../../decide/request-batch.ts';
import {withHeader} from '../../decide/turn.ts';
import {stemOf} from '../../formats/common/key.ts';
import {type Session, sessionText} from '../../formats/session/session.ts';
import type {Message} from '../../formats/session/session-schema.ts';
import {SPLIT_AT, splitPlace, splitSession} from '../../formats/session/session-split.ts';
import {type FileContent, snapshotOfSession} from '../../loop/file-snapshot.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import type {With} from '../state/parts.ts';
import {openTask} from './open-task.ts';
import {writeBeside} from './write-beside.ts';

/** Bulk messages may grow a session that cannot move older messages up to this size. */
export const FULL_AT = 1024 * 1024;

/**
 * How many of the oldest messages may move to a segment. None may while a question, a call, a mention or a task change is
 * pending. Messages that delivered a task stay while the task is open, and many waiting lines until they are answered.
 */
export function countMovable(
  {files, turns, approvals}: With<'files' | 'turns' | 'approvals'>,
  path: string,
  session: Session,
): number {
  const hasDue = (of: Session['header']) => of?.mentions_due?.length || of?.tasks_due?.length;
  const {header, messages} = session;
  if (turns.has(path) || turns.questionAhead(path) || hasDue(header) || !header) return 0;
  // The queue may still need the outcomes of these calls.
  const hasOutcomes = messages.some(({tool_calls}) =>
    tool_calls?.some(({approval}) => approval !== undefined && approvals.outcomes.has(approval)),
  );
  if (hasOutcomes) return 0;
  // Lines that are answered batch by batch stay until then: an answer goes below its lines.
  const waiting = new Set(hasBatches(messages) ? messages.slice(messages.findLastIndex(isAnswer) + 1) : []);
  const isOpenTask = ({delivery}: Message) => delivery !== undefined && openTask(files, delivery) !== undefined;
  return splitPlace(session, message => waiting.has(message) || isOpenTask(message));
}

function isAnswer({role}: Message): boolean {
  return role === 'assistant';
}

/**
 * Move older messages of a large session to a segment file, which is durable when the promise resolves. Returns the
 * session unchanged if nothing may move. An existing file that the session does not name is left from a crash and is
 * overwritten.
 */
export async function makeRoom(
  daemon: With<'files' | 'reports' | 'turns' | 'approvals'>,
  path: string,
  session: Session,
  now: string,
): Promise<Session> {
  const {header} = session;
  const place = session.body.length < SPLIT_AT ? 0 : countMovable(daemon, path, session);
  if (!header || place === 0) return session;
  const id = header.session_id ?? stemOf(path);
  const named = header.segments ?? [];
  const segment = nextSegment(daemon.files, id, named);
  const {forked_from, created} = header;
  const own = {
    ...{session_id: stemOf(segment), agent_id: header.agent_id, status: 'completed' as const},
    // Keeps a fork from counting the original's spend again.
    ...(forked_from && created !== undefined && {created, forked_from}),
  };
  const {older, rest} = splitSession(session, place, own, '../../schemas/session.json');
  if (older.problems.length > 0 || older.messages.length !== place) return session;
  const text = sessionText(older);
  const seenAs = (found: FileContent) => snapshotOfSession(segment, older, text, found);
  const entry = {words: `${place} older messages of ${id}`, cause: 'segment'};
  if (!(await writeBeside(daemon, segment, text, {entry, seenAs}))) return session;
  daemon.turns.segments.wrote(segment, older.messages);
  return withHeader(rest, {segments: [...named, segment]}, now);
}

/** The file for the next segment. A session that does a task for this one may have the name of the first. */
function nextSegment({index}: HomeFiles, id: string, named: readonly string[]): string {
  for (let n = named.length + 1; ; n++) {
    const path = `sessions/archive/${id}.${n}.session.yaml`;
    const isTaken = index.definitionsOf(`session/${id}.${n}`).some(other => other.path !== path);
    if (!isTaken && !named.includes(path)) return path;
  }
}
