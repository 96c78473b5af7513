import type {Session} from './session.ts';
import type {Message} from './session-schema.ts';

/** The first id of a session that does a task for `parent` that is not taken: `planner-1.2`. */
export function nextChildId(parent: string, isTaken: (id: string) => boolean): string {
  for (let n = 1; ; n++) {
    const id = `${parent}.${n}`;
    if (!isTaken(id)) return id;
  }
}

/** Whether a session that waits for this waits for another session, and not for a person. Requests end in `-1`. */
export function isChildId(waitingFor: string | undefined): boolean {
  return waitingFor !== undefined && /\.\d+$/.test(waitingFor);
}

/** State of a child, according to the call that gave it its task. */
export type ChildState = 'open' | 'running' | 'ended';

/** The sessions that do tasks for this one, as far as its messages show. */
export function childrenOf({messages}: Pick<Session, 'messages'>): Map<string, ChildState> {
  const found = new Map<string, ChildState>();
  if (!messages.some(givesTasks)) return found;
  const open = new Map<string, string>();
  for (const {tool_calls = [], tool_call_id, content} of messages) {
    const child = tool_call_id === undefined ? undefined : open.get(tool_call_id);
    if (child !== undefined) found.set(child, isRunning(content ?? '') ? 'running' : 'ended');
    for (const {id, child: of} of tool_calls) {
      open.delete(id);
      if (of === undefined) continue;
      open.set(id, of);
      found.set(of, 'open');
    }
  }
  return found;
}

function givesTasks({tool_calls}: Message): boolean {
  return tool_calls?.some(({child}) => child !== undefined) === true;
}

/** Whether the agent went on without the result of a task. */
function isRunning(result: string): boolean {
  return result.includes('"status":"running"') && result.startsWith('{"success":true,"session":');
}
