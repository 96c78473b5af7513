import {type Session, sessionText} from '../files/session.ts';
import {setField, setInMessage} from '../files/session-edit.ts';
import type {SessionHeader} from '../files/session-schema.ts';
import type {Completed} from './complete.ts';

/** What a session takes over from its agent's template when it begins. */
export interface SessionTemplate {
  type: string | undefined;
  model: string | undefined;
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

/** Whether nothing can be missing, whatever the template says. */
export function isComplete({header, messages}: Session): boolean {
  return (
    header !== undefined &&
    filled.every(key => header[key] !== undefined) &&
    messages.every(({role, from, timestamp}) => role !== 'user' || (from !== undefined && timestamp !== undefined))
  );
}

/**
 * Fill in what a person left out: keys of the session around what is there, times and senders of their messages.
 * Undefined if nothing is missing. What is there is never changed, `updated` apart.
 */
export function completeSession(session: Session, {id, template, now}: SessionContext): Completed | undefined {
  const {header} = session;
  if (!header || isComplete(session)) return undefined;
  // The long one last: each edit reads again what is above the messages.
  const wanted: Partial<SessionHeader> = {
    session_id: id,
    agent_type: template?.type,
    model: template && (template.model ?? 'default'),
    created: now,
    status: session.messages.at(-1)?.role === 'user' ? 'active' : 'sleeping',
    system_prompt: template?.system_prompt,
  };
  const missing = Object.entries(wanted).filter(([key, value]) => value !== undefined && header[key] === undefined);
  const untold = session.messages.some(
    ({role, from, timestamp}) => role === 'user' && (from === undefined || timestamp === undefined),
  );
  if (missing.length === 0 && !untold && header.updated !== undefined) return undefined;
  const words = missing.map(([key]) => key);
  let result = setField(session, 'updated', later(now, header.updated));
  for (const [key, value] of missing) result = setField(result, key as keyof SessionHeader & string, value as never);
  for (const [index, message] of session.messages.entries()) {
    if (message.role !== 'user') continue;
    if (message.from === undefined) result = setInMessage(result, index, ['from'], 'human');
    if (message.timestamp === undefined) result = setInMessage(result, index, ['timestamp'], now);
    if (message.from === undefined || message.timestamp === undefined) words.push(`message ${index + 1}`);
  }
  return {text: sessionText(result), words: `filled in ${listed(words.length > 0 ? words : ['updated'])}`, tasks: []};
}

/** `now`, but after `before`: each of our versions has an `updated` of its own, whatever the clock does. */
export function later(now: string, before: string | undefined): string {
  if (before === undefined || Number.isNaN(Date.parse(before)) || Date.parse(before) < Date.parse(now)) return now;
  return new Date(Date.parse(before) + 1).toISOString();
}

function listed(words: readonly string[]): string {
  return words.length > 6 ? `${words.slice(0, 5).join(', ')} and ${words.length - 5} more` : words.join(', ');
}
