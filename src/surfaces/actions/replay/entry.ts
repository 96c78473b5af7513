import {createHash} from 'node:crypto';
import type {Message} from '../../../formats/session/session-schema.ts';

/** A commit with a new version of a session, or the file on disk. */
export interface VersionSource {
  /** Undefined if uncommitted. */
  commit: string | undefined;
  /** Its place in the history. */
  order: number;
  author: string;
  time: string;
  cause: string;
  /** By the daemon, in its own or an agent's name; otherwise by a person. */
  engine: boolean;
  /** A git merge. */
  joins?: boolean;
  /** The daemon changed a recorded message, which it never should. */
  wrong?: boolean;
}

/** The first version with this message. One object per message. */
export interface MessageOrigin {
  by: VersionSource;
  path: string;
  /** Index in that version. */
  at: number;
  /** As it was recorded. */
  print: string;
}

/** A message, and how it was changed since it was recorded. */
export interface MessageEntry {
  message: Message;
  print: string;
  origin: MessageOrigin;
  edits: readonly VersionSource[];
  /** Who moved it here. */
  moved?: VersionSource;
}

/** A removed message. */
export interface MissingEntry {
  entry: MessageEntry;
  by: VersionSource;
  /** The messages above it, nearest first. */
  above: readonly MessageOrigin[];
}

/** Messages of models and tools; people may write all others. */
export function isRecordedMessage({role}: Message): boolean {
  return role === 'assistant' || role === 'tool_result';
}

const prints = new WeakMap<Message, string>();

/** A canonical text of a message, without fields that the daemon adds later. */
export function printOf(message: Message): string {
  let print = prints.get(message);
  if (print === undefined) {
    print = createHash('sha1')
      .update(JSON.stringify(fieldsOf(message)))
      .digest('base64');
    prints.set(message, print);
  }
  return print;
}

export function fieldsOf(message: Message): Record<string, unknown> {
  const {role, content, from, timestamp, model, usage, cut, tool_calls, tool_call_id} = message;
  const {delivery, untrusted, taint, priority} = message;
  const calls = tool_calls?.map(({id, function: {name, arguments: args}}) => [id, name, args]);
  const person = role === 'user' || role === 'system';
  return {
    role,
    content: content ?? '',
    ...(person ? {from: from ?? 'human', untrusted, taint, priority} : {timestamp, model, usage: sorted(usage), cut}),
    tool_calls: calls?.length ? calls : undefined,
    tool_call_id,
    delivery,
  };
}

function sorted(value: object | undefined): unknown {
  return value && Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Identifies a recorded message whose content changed: by time and calls. */
export function recordedMessageKey({role, timestamp, tool_calls, tool_call_id}: Message): string | undefined {
  if (timestamp === undefined) return undefined;
  return JSON.stringify([role, timestamp, tool_call_id, tool_calls?.map(({id}) => id)]);
}
