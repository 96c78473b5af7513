import type {Delivery, Event} from './delivery.ts';
import {asList, asObject, asText, type Json, withoutUndefined} from './fields.ts';

/** Message subtypes with text by a person or app; the others are edits, deletions, joins and the like. */
const written: ReadonlySet<string> = new Set(['bot_message', 'file_share', 'me_message', 'thread_broadcast']);

/** Slack's Events API: messages and mentions become records. */
export function slackEvent(payload: Json, {now}: Delivery): Event {
  if (payload.type === 'url_verification') {
    const challenge = asText(payload.challenge);
    return challenge === undefined
      ? {garbage: 'expected a challenge'}
      : {nothing: 'Slack made sure of the address', answer: {challenge}};
  }
  const eventId = asText(payload.event_id);
  if (payload.type !== 'event_callback' || eventId === undefined)
    return {garbage: 'expected an event of the Events API, with event_id'};
  const event = asObject(payload.event);
  const type = asText(event.type) ?? '';
  if (type !== 'message' && type !== 'app_mention')
    return {nothing: `events of type ${type.slice(0, 40)} are not taken`};
  if (event.subtype !== undefined && !written.has(String(event.subtype)))
    return {nothing: `it is about a message (${String(event.subtype).slice(0, 40)}), and none itself`};
  if (isOwn(event, payload)) return {nothing: 'this app wrote it itself'};
  const channel = asText(event.channel);
  const ts = asText(event.ts);
  if (channel === undefined || ts === undefined) return {garbage: 'expected a message with channel and ts'};
  const files = asList(event.files).flatMap(file => asText(asObject(file).name) ?? []);
  const words =
    asText(event.text) ?? attachedTo(event) ?? (files.length > 0 ? `(files: ${files.join(', ')})` : undefined);
  if (words === undefined) return {nothing: 'it has no text'};
  // A mention in a channel of the app arrives as two events about one message.
  const id = `slack:${asText(payload.team_id) ?? ''}:${channel}:${ts}`;
  return {
    ids: [id, `slack-event:${eventId}`],
    record: withoutUndefined({
      id,
      ts: timeOf(ts) ?? now,
      source: 'slack',
      text: words,
      from: asText(event.user) ?? asText(event.username) ?? asText(event.bot_id),
      channel,
      thread: asText(event.thread_ts) ?? ts,
      team: asText(payload.team_id),
      files: files.length > 0 ? files : undefined,
    }),
  };
}

/** Other apps, such as alerting, often put all text into attachments. */
function attachedTo(event: Json): string | undefined {
  const words = asList(event.attachments)
    .map(asObject)
    .flatMap(each => asText(each.fallback) ?? asText(each.text) ?? asText(each.title) ?? []);
  return asText(words.join('\n'));
}

/** Slack sends the app its own posts as events. */
function isOwn(event: Json, payload: Json): boolean {
  const app = asText(payload.api_app_id);
  const apps = [event.app_id, asObject(event.bot_profile).app_id];
  const bots = asList(payload.authorizations)
    .map(asObject)
    .filter(({is_bot}) => is_bot === true);
  return (app !== undefined && apps.includes(app)) || bots.some(({user_id}) => user_id === (event.user ?? null));
}

/** Slack identifies messages by their time. */
function timeOf(ts: string): string | undefined {
  const ms = /^\d{9,11}\.\d{1,9}$/.test(ts) ? Math.round(Number(ts) * 1000) : undefined;
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
