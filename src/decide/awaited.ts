import {mentionedNames} from '../formats/mentions.ts';
import type {Message} from '../formats/session/session-schema.ts';
import {toolNamed} from '../policy/tools.ts';

/** Keys (`task/ID#ATTEMPT`) of tasks delivered to a session, in order. */
export function deliveredTasks(messages: readonly Message[]): string[] {
  const found: string[] = [];
  for (const {role, delivery} of messages)
    if (delivery !== undefined && role === 'user' && /^task\/\S+#\d+$/.test(delivery)) found.push(delivery);
  return found;
}

/** The delivery id of a task's reminder, one per attempt. */
export function reminderOf(key: string): string {
  return `${key} reminder`;
}

/** The delivery id of the message that a task is the next one to do, one per attempt. */
export function nextTaskOf(key: string): string {
  return `${key} next`;
}

/** Agents that the session wrote to (after delivery `since`), by message or mention, and that have not replied. */
export function awaitedNames(messages: readonly Message[], since?: string): Set<string> {
  const open = new Map<string, number>();
  const count = (name: string, more: number) => open.set(name, Math.max(0, (open.get(name) ?? 0) + more));
  /** Receiver of each `send_message` call in the last answer, by call id. */
  const sending = new Map<string, string>();
  const begin = since === undefined ? 0 : messages.findIndex(({delivery}) => delivery === since);
  for (const {role, from, content, tool_calls = [], tool_call_id = ''} of messages.slice(Math.max(begin, 0))) {
    if (role === 'user' && from?.startsWith('@')) open.delete(from.slice(1));
    const to = sending.get(tool_call_id);
    // A failed message gets no reply.
    if (role === 'tool_result' && to !== undefined && isFailed(content)) count(to, -1);
    if (role !== 'assistant') continue;
    sending.clear();
    for (const {id, function: called} of tool_calls)
      if (toolNamed(called.name) === 'send_message') sending.set(id, receiverIn(called.arguments));
    for (const name of tool_calls.length === 0 ? mentionedNames(content ?? '') : sending.values()) count(name, 1);
  }
  return new Set([...open].flatMap(([name, unanswered]) => (unanswered > 0 ? [name] : [])));
}

/** The agents to whom `send_message` sent a message, or is about to. */
export function writtenTo(messages: readonly Message[]): string[] {
  const failed = new Set(messages.flatMap(({tool_call_id: id, content}) => (isFailed(content) ? [id] : [])));
  return messages.flatMap(({tool_calls = []}) =>
    tool_calls.flatMap(({id, function: {name, arguments: args}}) =>
      toolNamed(name) === 'send_message' && !failed.has(id) ? [receiverIn(args)] : [],
    ),
  );
}

function isFailed(result: string | null | undefined): boolean {
  return /^\{"success":\s*false\b/.test(result ?? '');
}

/** Empty if the arguments name no receiver. */
function receiverIn(args: string): string {
  try {
    const {to} = JSON.parse(args) as {to?: unknown};
    return typeof to === 'string' ? to.trim().replace(/^@/, '') : '';
  } catch {
    return '';
  }
}
