import {riskOfTool, summary} from '../../policy/risk.ts';
import {logSent, uuidOf} from '../connect/outcome.ts';
import {slackAccess} from '../connect/set-up.ts';
import {callSlack} from '../connect/slack.ts';
import {failure, isFailure} from '../tool/failure.ts';
import type {Arguments, AskPart, Tool, ToolFailure} from '../tool/tool.ts';

/** Slack cuts longer messages, but an approved message must be sent as it is. */
const MAX_MESSAGE_TEXT = 40_000;

export const slackSendTool: Tool<'slack_send'> = {
  async execute(args, context) {
    const {outside, signal} = context;
    const access = unfit(args) ?? slackAccess(outside);
    if (isFailure(access)) return access;
    const {channel, text, thread} = args;
    const id = uuidOf(outside.messageName, [channel, text, thread]);
    const body = {
      channel,
      text,
      ...(thread !== undefined && {thread_ts: thread}),
      client_msg_id: id,
      // Slack must not fetch links that an agent wrote.
      unfurl_links: false,
      unfurl_media: false,
    };
    const sent = await callSlack(access, 'chat.postMessage', body, {signal, posts: true});
    if (isFailure(sent)) return sent;
    const {channel: place, ts} = sent.answer;
    const record = {id, source: 'slack', text, channel: place ?? channel, thread: thread ?? ts, slack_ts: ts};
    return {
      success: true,
      channel: place ?? channel,
      ts,
      message_id: id,
      ...(await logSent(context, access.file, record)),
    };
  },
  ask(args, {outside}) {
    const access = unfit(args) ?? slackAccess(outside);
    if (isFailure(access)) return access;
    const {channel, text, thread} = args;
    const [everybody, group] = /<!(?:channel|here|everyone|(subteam))\b/.exec(text) ?? [];
    const notifies = `${everybody}> notifies ${group ? 'all of a group' : 'everybody there'}`;
    const parts: AskPart[] = [
      {label: 'Channel', text: channel},
      ...(thread === undefined ? [] : [{label: 'Thread', text: thread}]),
      {label: 'Text', text},
    ];
    const factors = riskOfTool('slack_send').factors.map(why => ({level: 'HIGH', why}) as const);
    return {
      type: 'external_message',
      title: `Slack message to ${channel}: ${text.replace(/\s+/g, ' ').slice(0, 120)}`,
      risk: summary(everybody ? [...factors, {level: 'HIGH', why: notifies}] : factors),
      parts,
      edits: {argument: 'text', label: 'Text'},
      basis: {slack: access.apiUrl},
      always: {none: 'what goes to people outside is asked each time'},
    };
  },
};

function unfit({channel, text, thread}: Arguments<'slack_send'>): ToolFailure | undefined {
  const wrong = (what: string) => failure('INVALID_ARGUMENTS', what);
  if (!/^[#@]?[\p{L}\p{N}._-]{1,100}$/u.test(channel))
    return wrong(`channel: expected an id such as C0123456789 or a #name, got ${JSON.stringify(channel.slice(0, 80))}`);
  if (text.trim() === '') return wrong('text: expected a message, got nothing but blanks');
  if (text.length > MAX_MESSAGE_TEXT)
    return wrong(`text: expected at most ${MAX_MESSAGE_TEXT} characters, got ${text.length}`);
  if (text.includes('\0')) return wrong('text: expected plain text, got a NUL');
  if (thread !== undefined && !/^\d{1,12}\.\d{1,9}$/.test(thread))
    return wrong(
      `thread: expected a time of Slack's such as 1759572323.000100, got ${JSON.stringify(thread.slice(0, 80))}`,
    );
  return undefined;
}
