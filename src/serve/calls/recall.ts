import type {Call} from '../../files/session/session-schema.ts';
import type {Serving} from '../serving.ts';
import {type Caller, isRead, nameOfCall} from './caller.ts';

/**
 * Before a call begins that is older than what is remembered of calls: what of its session was begun once, from the
 * journal. So `.agentdir/` may be deleted.
 */
export async function recall({world, started}: Serving, caller: Caller, call: Call): Promise<void> {
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
