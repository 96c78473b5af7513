import type {NewCheckpoint} from '../../decide/compaction.ts';
import {activeCheckpoint, withVersion} from '../../decide/context-versions.ts';
import {nextSessionAction, withHeader} from '../../decide/turn.ts';
import type {Session} from '../../formats/session/session.ts';
import {SPLIT_AT} from '../../formats/session/session-split.ts';
import {grouped} from '../../formats/session/spent.ts';
import {makeRoom} from '../sessions/make-room.ts';
import type {SessionStep} from '../sessions/step.ts';
import {writeBeside} from '../sessions/write-beside.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';

const AGAIN_MS = 1_000;

/** Record a checkpoint: its file first, then the version in the header, so that a crash between the two only leaves a file over. */
export async function checkpointStep(
  daemon: With<'files' | 'reports'>,
  caller: Caller,
  session: Session,
  {entry, file, text}: NewCheckpoint,
  now: string,
): Promise<SessionStep | undefined> {
  const {header} = session;
  if (!header) return undefined;
  const {path, agent, session: id} = caller;
  const {upto = '', tokens_before: before = 0, tokens_after: after = 0} = entry;
  const fileEntry = {words: `checkpoint of ${id} up to ${upto}`, cause: 'compaction', agent};
  if (!(await writeBeside(daemon, file, text, {entry: fileEntry}))) {
    // The disk is full, or somebody has just made such a file.
    daemon.files.queue.addAfter(path, AGAIN_MS);
    return undefined;
  }
  return {
    session: withHeader(session, {context: withVersion(header, entry, now)}, now),
    entry: {
      words: `compacted up to ${upto}, ${grouped(before)} to ${grouped(after)} tokens`,
      cause: 'compaction',
      agent,
    },
    written: () => daemon.reports.report({event: 'compacted', session: id, agent, upto, before, after}),
  };
}

/** Once a checkpoint stands for older messages, a large session moves them to a segment: a turn then costs as much as at the start. */
export async function roomStep(
  daemon: With<'files' | 'reports' | 'turns' | 'approvals'>,
  path: string,
  session: Session,
  now: string,
): Promise<SessionStep | undefined> {
  const {header} = session;
  if (session.body.length < SPLIT_AT || !header || !activeCheckpoint(header)) return undefined;
  if (nextSessionAction(session).do !== 'ask') return undefined;
  const moved = await makeRoom(daemon, path, session, now);
  return moved === session ? undefined : {session: moved, entry: {words: 'moved older messages', cause: 'segment'}};
}
