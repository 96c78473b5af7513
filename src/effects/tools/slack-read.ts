import {closeSync, constants, fstatSync, openSync, readSync} from 'node:fs';
import {join} from 'node:path';
import {readRecord} from '../../formats/inbox.ts';
import type {Policy} from '../../formats/rule.ts';
import {judgeTool, type ToolJudgement} from '../../policy/judge.ts';
import {slackAccess, slackFiles} from '../connect/set-up.ts';
import {callSlack} from '../connect/slack.ts';
import {errorCode, failure, isFailure} from '../tool/failure.ts';
import type {Arguments, JudgingTool, ToolContext, ToolFailure, ToolResult} from '../tool/tool.ts';

const USUAL = 20;
const MAX_MESSAGES = 100;
/** Bytes read from the end of an inbox file. */
const TAIL = 4 * 1024 * 1024;
const MAX_MESSAGE_TEXT = 4000;

type Message = Readonly<Record<string, unknown>>;

/** Results are untrusted: people outside wrote these messages. */
export const slackReadTool: JudgingTool<'slack_read'> = {
  prepare: async (args, policy, context) => ({
    ...judgeChannel(args, policy, context),
    execute: () => (args.channel === undefined ? fromInbox(args, context) : fromSlack(args, context)),
    ask: () =>
      wrongChannel(args.channel) ?? {
        title: args.channel === undefined ? 'read Slack messages' : `read the Slack channel ${args.channel}`,
        parts: [{label: 'Arguments', text: JSON.stringify(args, null, 2)}],
      },
  }),
};

/** An agent reads a channel without being asked if agentdir.yaml lists it, or a rule allows the tool. */
function judgeChannel(
  {channel}: Arguments<'slack_read'>,
  policy: Policy,
  {agent, outside}: ToolContext,
): ToolJudgement {
  const judged = judgeTool('slack_read', policy, {agent});
  const isListed = channel === undefined || (outside.settings.slack?.channels ?? []).includes(channel);
  if (judged.ruled || judged.verdict !== 'allow' || isListed || wrongChannel(channel)) return judged;
  return {verdict: 'ask', reason: `agentdir.yaml does not list the channel ${channel} under slack: channels:`};
}

function wrongChannel(channel: string | undefined): ToolFailure | undefined {
  return channel === undefined || /^[A-Z][A-Z0-9]{1,30}$/.test(channel)
    ? undefined
    : failure('INVALID_ARGUMENTS', 'channel: expected the id of a channel, such as C0123456789');
}

function fromInbox({thread, limit = USUAL}: Arguments<'slack_read'>, {home, outside}: ToolContext): ToolResult {
  const all = slackFiles(home, outside.settings)
    .flatMap(file => tailOf(join(home, 'inbox', file)))
    .filter(message => thread === undefined || message.thread === thread)
    .sort((a, b) => (String(a.ts) < String(b.ts) ? -1 : 1));
  const messages = all.slice(-Math.min(limit, MAX_MESSAGES));
  return {success: true, messages, ...(all.length > messages.length && {more: true}), untrusted: true};
}

function tailOf(path: string): Message[] {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
  try {
    const {size} = fstatSync(fd);
    const from = Math.max(0, size - TAIL);
    const bytes = Buffer.alloc(size - from);
    const length = readSync(fd, bytes, 0, bytes.length, from);
    return bytes
      .toString('utf8', 0, length)
      .split('\n')
      .slice(from > 0 ? 1 : 0, -1)
      .flatMap(messageIn);
  } finally {
    closeSync(fd);
  }
}

function messageIn(line: string): Message[] {
  const read = readRecord(line.trim());
  if (typeof read === 'string') return [];
  const {text, from, outgoing, data} = read;
  const {channel, thread, ts} = data;
  return [{from, text: short(text), channel, thread, ts, ...(outgoing && {direction: 'out'})}];
}

async function fromSlack(
  {channel, thread, limit = USUAL}: Arguments<'slack_read'>,
  {outside, signal}: ToolContext,
): Promise<ToolResult> {
  const access = wrongChannel(channel) ?? slackAccess(outside);
  if (isFailure(access)) return access;
  const count = Math.min(limit, MAX_MESSAGES);
  const method = thread === undefined ? 'conversations.history' : 'conversations.replies';
  const args = {channel, limit: count, ...(thread !== undefined && {ts: thread})};
  const read = await callSlack(access, method, args, {signal, posts: false});
  if (isFailure(read)) return read;
  const {messages, has_more} = read.answer;
  const all = (Array.isArray(messages) ? (messages as Message[]) : []).map(message => ({
    from: message.user ?? message.username ?? message.bot_id,
    text: short(String(message.text ?? '')),
    channel,
    thread: message.thread_ts ?? message.ts,
    ts: message.ts,
  }));
  // Slack returns a channel latest first, and a thread oldest first.
  const inOrder = thread === undefined ? all.reverse() : all;
  return {success: true, messages: inOrder, ...(has_more === true && {more: true}), untrusted: true};
}

function short(text: string): string {
  return text.length > MAX_MESSAGE_TEXT ? `${text.slice(0, MAX_MESSAGE_TEXT)}… (${text.length} characters)` : text;
}
