import type {Webhook} from '../../formats/connector-settings.ts';
import type {Delivery, Event} from './delivery.ts';
import type {Json} from './fields.ts';
import {githubEvent} from './github-event.ts';
import {slackCommand} from './slack-command.ts';
import {slackEvent} from './slack-event.ts';
import {standardEvent} from './standard-event.ts';

const MAX_EVENT_TEXT = 100_000;
/** Limit for all fields except the text: an overlong line cannot be read. */
const LONGEST_KEY = 1_000;
const LONGEST_ID = 400;
const MOST_VALUES = 20;

/** Keys of the sender never become keys of the record, so a sender can neither route it nor mark it as ours. */
export function eventOf(kind: Webhook['kind'], delivery: Delivery): Event {
  const payload = payloadOf(kind, delivery);
  if (payload === undefined) return {garbage: 'expected a JSON object'};
  try {
    return shortened(readers[kind](payload, delivery));
  } catch (error) {
    // Too deeply nested to stringify.
    if (error instanceof RangeError) return {garbage: 'expected JSON that is not nested that deeply'};
    throw error;
  }
}

/** Agents get the beginning of a long text. */
function shortened(event: Event): Event {
  if (!('record' in event)) return event;
  const {id, text, ...others} = event.record;
  if (String(id).length > LONGEST_ID) return {garbage: `expected an id of at most ${LONGEST_ID} characters`};
  const words = String(text);
  const record = {
    ...event.record,
    ...Object.fromEntries(Object.entries(others).map(([key, value]) => [key, shortValue(value)])),
    text: words.slice(0, MAX_EVENT_TEXT),
    ...(words.length > MAX_EVENT_TEXT && {incomplete: 'it is longer than what is here'}),
  };
  return {...event, record};
}

function shortValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MOST_VALUES).map(shortValue);
  return typeof value === 'string' ? value.slice(0, LONGEST_KEY) : value;
}

const readers: Record<Webhook['kind'], (payload: Json, delivery: Delivery) => Event> = {
  slack: (payload, delivery) => (isForm(delivery) ? slackCommand : slackEvent)(payload, delivery),
  github: githubEvent,
  standard: standardEvent,
};

function isForm({header}: Delivery): boolean {
  return header('content-type')?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false;
}

/** Slack sends commands as forms, and GitHub can wrap its JSON in one. */
function payloadOf(kind: Webhook['kind'], delivery: Delivery): Json | undefined {
  try {
    const text = new TextDecoder('utf-8', {fatal: true}).decode(delivery.body);
    const form = kind !== 'standard' && isForm(delivery) ? new URLSearchParams(text) : undefined;
    if (form && kind === 'slack') return Object.fromEntries(form);
    const value: unknown = JSON.parse(form ? (form.get('payload') ?? '') : text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
