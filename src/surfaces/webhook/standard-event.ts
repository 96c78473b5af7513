import type {Delivery, Event} from './delivery.ts';
import {given, type Json, object, text} from './fields.ts';

const KEYS = ['text', 'message', 'content', 'body'] as const;

/** Whatever signs by standardwebhooks.com: its own text if it has one, else all of it. */
export function standardEvent(payload: Json, {ids, now}: Delivery): Event {
  const [id = ''] = ids;
  const data = object(payload.data);
  const words = wordsOf(payload) ?? wordsOf(data) ?? JSON.stringify(payload);
  const type = text(payload.type);
  return {
    ids,
    record: given({
      id,
      ts: now,
      source: 'webhook',
      text: type === undefined ? words : `${type}: ${words}`,
      from: text(payload.from) ?? text(data.from) ?? text(payload.sender) ?? text(data.sender),
      type,
      thread: text(payload.thread) ?? text(data.thread),
      sent: text(payload.timestamp),
    }),
  };
}

function wordsOf(value: Json): string | undefined {
  return KEYS.map(key => text(value[key])).find(words => words !== undefined);
}
