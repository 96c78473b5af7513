import type {Delivery, Event} from './delivery.ts';
import {asObject, asText, type Json, withoutUndefined} from './fields.ts';

/** Shown only to the person who typed the command. */
const PASSED_ON = {response_type: 'ephemeral', text: 'Passed on to the agents.'};

/** A slash command that somebody typed in Slack: `/agents is Redis up?`. It begins no thread. */
export function slackCommand(form: Json, {now}: Delivery): Event {
  const interaction = asText(form.payload);
  if (interaction !== undefined)
    return {
      garbage: `it is an interaction (${typeOf(interaction)}): buttons, shortcuts and dialogs are not taken`,
    };
  if (form.ssl_check === '1') return {nothing: 'Slack made sure of the certificate'};
  const command = asText(form.command);
  const trigger = asText(form.trigger_id);
  const channel = asText(form.channel_id);
  if (command === undefined) return {garbage: 'expected JSON, or a command'};
  if (trigger === undefined || channel === undefined)
    return {garbage: 'expected a command with trigger_id and channel_id'};
  const id = `slack-command:${asText(form.team_id) ?? ''}:${trigger}`;
  return {
    ids: [id],
    // Omit response_url: whoever has it can answer in our name.
    record: withoutUndefined({
      id,
      ts: now,
      source: 'slack',
      text: [command, asText(form.text)].filter(Boolean).join(' '),
      from: asText(form.user_id),
      name: asText(form.user_name),
      channel,
      team: asText(form.team_id),
    }),
    answer: PASSED_ON,
  };
}

function typeOf(payload: string): string {
  try {
    return (asText(asObject(JSON.parse(payload)).type) ?? '?').slice(0, 40);
  } catch {
    return '?';
  }
}
