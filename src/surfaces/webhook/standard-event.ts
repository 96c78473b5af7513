import type {Delivery, Event} from './delivery.ts';
import {asObject, asText, type Json, withoutUndefined} from './fields.ts';

const KEYS = ['text', 'message', 'content', 'body'] as const;

/** Any sender that follows standardwebhooks.com: its text field, else the whole payload. */
export function standardEvent(payload: Json, {ids, now}: Delivery): Event {
  const [id = ''] = ids;
  const data = asObject(payload.data);
  const words = wordsOf(payload) ?? wordsOf(data) ?? JSON.stringify(payload);
  const type = asText(payload.type);
  return {
    ids,
    record: withoutUndefined({
      id,
      ts: now,
      source: 'webhook',
      text: type === undefined ? words : `${type}: ${words}`,
      from: asText(payload.from) ?? asText(data.from) ?? asText(payload.sender) ?? asText(data.sender),
      type,
      thread: asText(payload.thread) ?? asText(data.thread),
      sent: asText(payload.timestamp),
    }),
  };
}

function wordsOf(value: Json): string | undefined {
  return KEYS.map(key => asText(value[key])).find(words => words !== undefined);
}
