import {isMap} from '../formats/common/values.ts';
import type {Message} from '../formats/session/session-schema.ts';
import {grouped} from '../formats/session/spent.ts';
import {messageSize} from './token-size.ts';

/** Longer results may become pointers. */
const LONG = 2_000;
/** Longer fields of such a result are left out. */
const SHORT_FIELD = 200;
/** The last messages are shortened only if nothing else helps. */
const RECENT = 4;
/** Once the room is exceeded, so much of it is used afterwards: the next shortening is then some turns away. */
const FILL = 0.7;

/**
 * The messages as they fit into `room`: long tool results become pointers, the oldest first, no more than needed. Which ones do
 * follows from the messages alone and changes rarely while messages are added, so that servers can reuse their cache.
 * `first`: the number of the first message.
 */
export function shortenResults(
  messages: readonly Message[],
  {room, first, path}: {room: number; first: number; path: string},
): {messages: readonly Message[]; shortened: number} {
  const result = [...messages];
  let total = 0;
  let shortened = 0;
  let next = 0;
  const shorten = (at: number) => {
    const message = result[at] as Message;
    if (!isLong(message)) return;
    const short = pointerTo(message, first + at, path);
    total += messageSize(short) - messageSize(message);
    result[at] = short;
    shortened++;
  };
  for (let i = 0; i < messages.length; i++) {
    total += messageSize(messages[i] as Message);
    if (total > room) while (next < i - RECENT && total > room * FILL) shorten(next++);
  }
  for (let i = next; i < messages.length && total > room; i++) shorten(i);
  return shortened === 0 ? {messages, shortened} : {messages: result, shortened};
}

/** The size of the messages when all long results are pointers. */
export function leastSize(messages: readonly Message[]): number {
  let size = 0;
  for (const message of messages)
    size += isLong(message) ? messageSize(pointerTo(message, 0, '')) : messageSize(message);
  return size;
}

function isLong({role, content, pin}: Message): boolean {
  return role === 'tool_result' && pin !== true && (content?.length ?? 0) > LONG;
}

const pointers = new WeakMap<Message, Map<number, Message>>();

/** The result without its long fields, and where the whole is. */
function pointerTo(message: Message, number: number, path: string): Message {
  const known = pointers.get(message) ?? new Map<number, Message>();
  let pointer = known.get(number);
  if (!pointer) {
    pointer = {...message, content: pointerText(message.content ?? '', number, path)};
    pointers.set(message, known.set(number, pointer));
  }
  return pointer;
}

function pointerText(content: string, number: number, path: string): string {
  const [, file] = /the whole is in ([^\s"\\]+)/.exec(content) ?? [];
  const where = `message ${number} of ${path}; recall {"from": ${number}, "to": ${number}} returns it`;
  const shortened = `${grouped(content.length)} characters are left out here. The whole is ${file === undefined ? where : `in ${file}, and what of it was shown before is ${where}`}`;
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    // Not one of our results.
  }
  if (!isMap(value)) return JSON.stringify({begins: content.slice(0, SHORT_FIELD), shortened});
  const fields = Object.entries(value).filter(([, field]) => (JSON.stringify(field)?.length ?? 0) <= SHORT_FIELD);
  return JSON.stringify({...Object.fromEntries(fields.slice(0, 20)), shortened});
}
