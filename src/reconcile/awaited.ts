import type {Message} from '../files/session-schema.ts';
import {toolNamed} from '../policy/tools.ts';
import {mentionsIn} from './mentions.ts';

/** Tasks that were brought to a session, `task/ID#ATTEMPT`, in their order. */
export function deliveredTasks(messages: readonly Message[]): string[] {
  return messages.flatMap(({role, delivery}) =>
    role === 'user' && delivery !== undefined && /^task\/\S+#\d+$/.test(delivery) ? [delivery] : [],
  );
}

/** The delivery of a reminder of a task: one for each attempt. */
export function reminderOf(key: string): string {
  return `${key} reminder`;
}

/** Whom the session has written to since that delivery, by message or in a final answer, and not heard from after it. */
export function awaited(messages: readonly Message[], since: string): Set<string> {
  const names = new Set<string>();
  const begin = messages.findIndex(({delivery}) => delivery === since);
  for (const {role, from, content, tool_calls = []} of messages.slice(Math.max(begin, 0))) {
    if (role === 'user' && from?.startsWith('@')) names.delete(from.slice(1));
    if (role !== 'assistant') continue;
    for (const {function: called} of tool_calls)
      if (toolNamed(called.name) === 'send_message') names.add(receiverIn(called.arguments));
    if (tool_calls.length === 0) for (const name of mentionsIn(content ?? '')) names.add(name);
  }
  return names;
}

/** '': it says nobody. */
function receiverIn(args: string): string {
  try {
    const {to} = JSON.parse(args) as {to?: unknown};
    return typeof to === 'string' ? to.trim().replace(/^@/, '') : '';
  } catch {
    return '';
  }
}
