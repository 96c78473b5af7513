import type {Delivery, Event} from './delivery.ts';
import {given, type Json, object, text} from './fields.ts';

/** What who typed it sees, and nobody else. */
const PASSED_ON = {response_type: 'ephemeral', text: 'Passed on to the agents.'};

/** A slash command that somebody typed in Slack: `/agents is Redis up?`. It begins no thread. */
export function slackCommand(form: Json, {now}: Delivery): Event {
  const interaction = text(form.payload);
  if (interaction !== undefined)
    return {
      garbage: `it is an interaction (${typeOf(interaction)}): buttons, shortcuts and dialogs are not taken`,
    };
  if (form.ssl_check === '1') return {nothing: 'Slack made sure of the certificate'};
  const command = text(form.command);
  const trigger = text(form.trigger_id);
  const channel = text(form.channel_id);
  if (command === undefined) return {garbage: 'expected JSON, or a command'};
  if (trigger === undefined || channel === undefined)
    return {garbage: 'expected a command with trigger_id and channel_id'};
  const id = `slack-command:${text(form.team_id) ?? ''}:${trigger}`;
  return {
    ids: [id],
    // Not its response_url: whoever has that can answer in our name.
    record: given({
      id,
      ts: now,
      source: 'slack',
      text: [command, text(form.text)].filter(Boolean).join(' '),
      from: text(form.user_id),
      name: text(form.user_name),
      channel,
      team: text(form.team_id),
    }),
    answer: PASSED_ON,
  };
}

function typeOf(payload: string): string {
  try {
    return (text(object(JSON.parse(payload)).type) ?? '?').slice(0, 40);
  } catch {
    return '?';
  }
}
