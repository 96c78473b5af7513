import {editedText} from '../../../formats/approval/approval-edited.ts';
import type {Call} from '../../../formats/session/session-schema.ts';
import {fieldOf} from '../../../formats/task/task.ts';
import {readSession, sessionFile} from '../talk/find-session.ts';
import {editable} from './edited.ts';
import type {Request} from './queue.ts';

/**
 * The edited text, if it differs from what the agent asked for; undefined if it does not, or if the session cannot be
 * read.
 */
export function currentEdit(home: string, request: Request): string | undefined {
  const now = editable(home, request);
  const asked = now && argumentsOf(home, request);
  if (!now || !asked) return undefined;
  const same = (text: string) =>
    now.where === 'item' ? text.trimEnd() === now.text.trimEnd() : 'unchanged' in editedText(text, now.text);
  return Object.values(asked).some(value => typeof value === 'string' && same(value)) ? undefined : now.text;
}

function argumentsOf(home: string, request: Request): Record<string, unknown> | undefined {
  try {
    return JSON.parse(callOf(home, request)?.call.function.arguments ?? '') as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** The call and its session file; undefined if the session cannot be read. */
export function callOf(home: string, {task}: Request): {call: Call; path: string} | undefined {
  const wanted = fieldOf(task, 'call');
  try {
    const found = readSession(home, sessionFile(home, fieldOf(task, 'session') ?? ''));
    const calls = found?.session.messages.flatMap(message => message.tool_calls ?? []) ?? [];
    const call = calls.find(({id}) => id === wanted);
    return found && call && {call, path: found.path};
  } catch {
    return undefined;
  }
}
