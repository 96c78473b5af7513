import {cutPlace} from '../../../decide/compact-plan.ts';
import {activeCheckpoint, withFormerVersion} from '../../../decide/context-versions.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {compactionSettings} from '../../../formats/compaction.ts';
import {sessionText} from '../../../formats/session/session.ts';
import {setSessionFields} from '../../../formats/session/session-edit.ts';
import type {ContextState, ContextVersion} from '../../../formats/session/session-schema.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {editFile} from '../../../home/edit-file.ts';
import type {SessionFile} from '../../../home/session-files.ts';
import {daemonOf} from '../../../home/status.ts';
import {readSettings} from '../models/read-settings.ts';
import {type FoundSession, readSession} from '../talk/find-session.ts';
import {agentNamed} from '../talk/read-agent.ts';
import {messagesIn} from './context-now.ts';

/** How a wish to compact ended. `later`: no daemon is running; the next one does it. */
export type CompactionOutcome = {made: ContextVersion} | {failed: string} | 'later' | 'pending';

/** Ask the daemon to compact a session: the wish stands in the session, and works while no daemon runs, too. */
export async function compactSession(
  home: string,
  file: SessionFile,
  {keep, patienceMs}: {keep: number | undefined; patienceMs: number},
): Promise<CompactionOutcome> {
  const found = foundNow(home, file);
  refuseIfShort(home, found, keep);
  const before = found.header.context?.version ?? 1;
  await setContext(home, file, ({context}) => {
    const {failed: _, ...rest} = context ?? {version: 1};
    return {...rest, wanted: keep === undefined ? {} : {keep}};
  });
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    if (!daemonOf(nodeDisk(home))) return 'later';
    const {context} = foundNow(home, file).header;
    const made = context?.versions?.find(({version}) => version === context.version);
    if (context?.failed !== undefined) return {failed: context.failed};
    if (context?.wanted === undefined)
      return made && made.version !== before ? {made} : {failed: 'somebody withdrew the wish in the file'};
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
  return 'pending';
}

const POLL_MS = 50;

/** Return to the version before the checkpoint in force. Nothing is removed: setting `version` again redoes it. */
export async function undoCompaction(home: string, file: SessionFile): Promise<{from: number; to: number}> {
  const from = activeCheckpoint(foundNow(home, file).header)?.entry.version;
  if (from === undefined)
    throw new UserError(`${file.id} has no checkpoint in force: all its messages are sent`, exit.failed);
  const to = await setContext(home, file, header => withFormerVersion(header) ?? header.context ?? {version: 1});
  return {from, to: to.version};
}

function setContext(
  home: string,
  file: SessionFile,
  change: (header: FoundSession['header']) => ContextState,
): Promise<ContextState> {
  return editFile(home, file.path, () => {
    const {header, session, bytes} = foundNow(home, file);
    const context = change(header);
    return {expected: bytes, text: sessionText(setSessionFields(session, {context})), saved: () => context};
  });
}

function foundNow(home: string, file: SessionFile): FoundSession {
  const found = readSession(home, file);
  if (!found) throw new UserError(`${file.path} is gone`, exit.failed, 'see agentdir list');
  if (found.header.status === 'completed')
    throw new UserError(`${file.id} is completed`, exit.failed, 'its model is not asked any more');
  return found;
}

function refuseIfShort(home: string, {id, header, session}: FoundSession, wanted: number | undefined): void {
  const settings = readSettings(home);
  const {template} = agentNamed(home, header.agent_id);
  const keep = wanted ?? compactionSettings(template.compaction, settings.compaction).keep;
  const messages = [...messagesIn(home, header.segments ?? []), ...session.messages];
  const from = activeCheckpoint(header)?.upto ?? 0;
  if (cutPlace(messages, {from, keep}) > from) return;
  throw new UserError(
    `nothing to compact: ${id} has ${messages.length - from} messages since ${from === 0 ? 'its beginning' : 'the last checkpoint'}, and the last ${keep} stay as they are`,
    exit.failed,
    `keep fewer: agentdir compact ${id} --keep 4`,
  );
}
