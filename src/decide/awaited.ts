import type {Message} from '../formats/session/session-schema.ts';
import {toolNamed} from '../policy/tools.ts';
import {mentionedNames} from './mentions.ts';

/** Tasks that were brought to a session, `task/ID#ATTEMPT`, in their order. */
export function deliveredTasks(messages: readonly Message[]): string[] {
  const found: string[] = [];
  for (const {role, delivery} of messages)
    if (delivery !== undefined && role === 'user' && /^task\/\S+#\d+$/.test(delivery)) found.push(delivery);
  return found;
}

/** The delivery of a reminder of a task: one for each attempt. */
export function reminderOf(key: string): string {
  return `${key} reminder`;
}

/** Whom the session has written to (since that delivery), by message or in a final answer, and not heard from after it. */
export function awaitedNames(messages: readonly Message[], since?: string): Set<string> {
  const open = new Map<string, number>();
  const count = (name: string, more: number) => open.set(name, Math.max(0, (open.get(name) ?? 0) + more));
  /** To whom each message of the last answer goes. */
  const sending = new Map<string, string>();
  const begin = since === undefined ? 0 : messages.findIndex(({delivery}) => delivery === since);
  for (const {role, from, content, tool_calls = [], tool_call_id = ''} of messages.slice(Math.max(begin, 0))) {
    if (role === 'user' && from?.startsWith('@')) open.delete(from.slice(1));
    const to = sending.get(tool_call_id);
    // Nobody answers what was not sent.
    if (role === 'tool_result' && to !== undefined && isFailed(content)) count(to, -1);
    if (role !== 'assistant') continue;
    sending.clear();
    for (const {id, function: called} of tool_calls)
      if (toolNamed(called.name) === 'send_message') sending.set(id, receiverIn(called.arguments));
    for (const name of tool_calls.length === 0 ? mentionedNames(content ?? '') : sending.values()) count(name, 1);
  }
  return new Set([...open].flatMap(([name, left]) => (left > 0 ? [name] : [])));
}

function isFailed(result: string | null | undefined): boolean {
  return /^\{"success":\s*false\b/.test(result ?? '');
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
