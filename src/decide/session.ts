import {laterTime} from '../formats/common/values.ts';
import type {Session} from '../formats/session/session.ts';
import {setKeysInMessage, setSessionFields} from '../formats/session/session-edit.ts';
import type {Message, SessionHeader} from '../formats/session/session-schema.ts';
import {SettledPrefix} from '../formats/session/settled-prefix.ts';

export {laterTime} from '../formats/common/values.ts';

/** The template fields that a new session copies. */
interface SessionTemplate {
  type?: string | undefined;
  model?: string | undefined;
  system_prompt: string;
}

export interface SessionContext {
  /** The file's stem. */
  id: string;
  template: SessionTemplate | undefined;
  /** ISO time. */
  now: string;
}

const filled = ['session_id', 'agent_type', 'model', 'system_prompt', 'created', 'updated', 'status'] as const;

/** Whether no field is missing, with any template. */
export function isComplete({header, messages}: Session): boolean {
  return header !== undefined && filled.every(key => header[key] !== undefined) && !hasIncompleteMessage(messages);
}

/** Whether a message of a person has no sender or no time. */
function hasIncompleteMessage(messages: readonly Message[]): boolean {
  const {state, count} = settled.of(messages);
  if (state.lacks) return true;
  for (let i = count; i < messages.length; i++) if (isIncomplete(messages[i] as Message)) return true;
  return false;
}

function isIncomplete({role, from, timestamp}: Message): boolean {
  return role === 'user' && (from === undefined || timestamp === undefined);
}

/** Caches the settled messages of a long conversation. */
const settled = new SettledPrefix(
  () => ({lacks: false}),
  (state, message) => {
    if (isIncomplete(message)) state.lacks = true;
  },
);

/**
 * Fill in missing header fields, and times and senders of a person's messages. Existing values are never changed, except
 * `updated`. Undefined if nothing is missing.
 */
export function completeSession(
  session: Session,
  {id, template, now}: SessionContext,
): {session: Session; words: string} | undefined {
  const {header} = session;
  if (!header || isComplete(session)) return undefined;
  // The prompt goes last because it is long: each edit parses the header again.
  const wanted: Partial<SessionHeader> = {
    session_id: id,
    agent_type: template?.type,
    model: template && (template.model ?? 'default'),
    created: now,
    status: session.messages.at(-1)?.role === 'user' ? 'active' : 'sleeping',
    system_prompt: template?.system_prompt,
  };
  const missing = Object.entries(wanted).filter(([key, value]) => value !== undefined && header[key] === undefined);
  const hasIncomplete = hasIncompleteMessage(session.messages);
  if (missing.length === 0 && !hasIncomplete && header.updated !== undefined) return undefined;
  const words = missing.map(([key]) => key);
  let result = setSessionFields(session, {updated: laterTime(now, header.updated), ...Object.fromEntries(missing)});
  for (const [index, {role, from, timestamp}] of session.messages.entries()) {
    if (role !== 'user' || (from !== undefined && timestamp !== undefined)) continue;
    const keys = {...(from === undefined && {from: 'human'}), ...(timestamp === undefined && {timestamp: now})};
    result = setKeysInMessage(result, index, [], keys);
    words.push(`message ${index + 1}`);
  }
  return {session: result, words: `filled in ${listed(words.length > 0 ? words : ['updated'])}`};
}

function listed(words: readonly string[]): string {
  return words.length > 6 ? `${words.slice(0, 5).join(', ')} and ${words.length - 5} more` : words.join(', ');
}
