import type {Call} from '../../formats/session/session-schema.ts';
import {type Caller, isRead, nameOfCall} from '../state/caller.ts';
import type {With} from '../state/parts.ts';

/**
 * Load the started calls of a session from the journal, if the call is older than the record of started calls. This keeps
 * a call from running twice after `.agentdir/` was deleted.
 */
export async function recallStartedCalls(
  {effects, approvals}: With<'approvals' | 'effects'>,
  caller: Caller,
  call: Call,
): Promise<void> {
  const {world} = effects;
  const {started} = approvals;
  const {path, session, of} = caller;
  if (call.started !== undefined || isRead(call)) return;
  const {timestamp = ''} = of.messages.find(({tool_calls}) => tool_calls?.includes(call)) ?? {};
  if (!started.mayHaveForgotten(session, timestamp)) return;
  const names = new Set<string>();
  for (const past of await world.git.versionsWithStarts(path))
    for (const each of past.messages.flatMap(({tool_calls = []}) => tool_calls)) {
      if (each.started === undefined) continue;
      names.add(nameOfCall({...caller, of: past}, each));
      if (each.approval !== undefined) names.add(each.approval);
    }
  started.recalled(session, [...names]);
}
