import {createHash} from 'node:crypto';
import type {Message} from '../../../formats/session/session-schema.ts';

/** A commit that has another version of a session, or the file as it is on disk. */
export interface VersionSource {
  /** Undefined: nobody has committed it. */
  commit: string | undefined;
  /** Its place in the history. */
  order: number;
  author: string;
  time: string;
  cause: string;
  /** The daemon's, in its own name or in an agent's; else somebody wrote it. */
  engine: boolean;
  /** A commit of git's that joins two lines of history. */
  joins?: boolean;
  /** A step of the daemon's that changed what was recorded: it never does. */
  wrong?: boolean;
}

/** Where a message comes from: the first version that has it. One object for one message, whatever becomes of it. */
export interface MessageOrigin {
  by: VersionSource;
  path: string;
  /** Its place among all messages of that version. */
  at: number;
  /** As it was recorded. */
  print: string;
}

/** A message of a version, and what was done to it since it was recorded. */
export interface MessageEntry {
  message: Message;
  print: string;
  origin: MessageOrigin;
  edits: readonly VersionSource[];
  /** Who put it where it stands, if it was not recorded there. */
  moved?: VersionSource;
}

/** A message that a version does not have any more. */
export interface MissingEntry {
  entry: MessageEntry;
  by: VersionSource;
  /** What stood above it, nearest first. */
  above: readonly MessageOrigin[];
}

/** What models and tools said: it stands as it was recorded. Whatever else is in a session, people may write. */
export function isRecordedMessage({role}: Message): boolean {
  return role === 'assistant' || role === 'tool_result';
}

const prints = new WeakMap<Message, string>();

/** One text for all spellings of a message. What the daemon adds to it later is not part of it. */
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

/** What a message says, by field. */
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

/** What a recorded message is known by when its content is another: when it came, and about which calls. */
export function recordedMessageKey({role, timestamp, tool_calls, tool_call_id}: Message): string | undefined {
  if (timestamp === undefined) return undefined;
  return JSON.stringify([role, timestamp, tool_call_id, tool_calls?.map(({id}) => id)]);
}
