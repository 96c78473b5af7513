import type {Webhook} from '../../files/connector-settings.ts';
import type {Delivery, Event} from './delivery.ts';
import type {Json} from './fields.ts';
import {githubEvent} from './github-event.ts';
import {slackEvent} from './slack-event.ts';
import {standardEvent} from './standard-event.ts';

const LONGEST = 100_000;

/** Nothing of what the sender wrote becomes a key of the record: it neither routes it nor marks it as ours. */
export function eventOf(kind: Webhook['kind'], delivery: Delivery): Event {
  const payload = payloadOf(kind, delivery);
  if (payload === undefined) return {garbage: 'expected a JSON object'};
  try {
    return shortened(readers[kind](payload, delivery));
  } catch (error) {
    // Nested so deeply that it cannot be written down.
    if (error instanceof RangeError) return {garbage: 'expected JSON that is not nested that deeply'};
    throw error;
  }
}

/** Of a long text an agent is given the beginning. */
function shortened(event: Event): Event {
  if (!('record' in event)) return event;
  const {text} = event.record;
  if (typeof text !== 'string' || text.length <= LONGEST) return event;
  const incomplete = 'it is longer than what is here';
  return {...event, record: {...event.record, text: text.slice(0, LONGEST), incomplete}};
}

const readers: Record<Webhook['kind'], (payload: Json, delivery: Delivery) => Event> = {
  slack: slackEvent,
  github: githubEvent,
  standard: standardEvent,
};

/** GitHub can also be told to send its JSON in a form. */
function payloadOf(kind: Webhook['kind'], {header, body}: Delivery): Json | undefined {
  const isForm = kind === 'github' && header('content-type')?.startsWith('application/x-www-form-urlencoded');
  try {
    const text = new TextDecoder('utf-8', {fatal: true}).decode(body);
    const value: unknown = JSON.parse(isForm ? (new URLSearchParams(text).get('payload') ?? '') : text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
