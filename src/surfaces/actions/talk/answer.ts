import type {Message, SessionHeader} from '../../../formats/session/session-schema.ts';

/** The progress of the answer to one message. */
export interface AnswerProgress {
  /** Index of the message; -1 in a segment. */
  at: number;
  /** Replies since, oldest first. */
  replies: readonly Message[];
  over: WaitEnd | undefined;
}

/** Why waiting ended. */
export type WaitEnd = 'answered' | 'waiting' | 'paused' | 'error' | 'unanswered' | 'removed';

export interface AskedMessage {
  message: Message;
  segments: number;
}

/**
 * Computed from the session alone: a reply without calls ends the answer, once the session rests or continues with
 * another message.
 */
export function progressOf(header: SessionHeader, messages: readonly Message[], asked: AskedMessage): AnswerProgress {
  const at = messages.findLastIndex(message => isSame(message, asked.message));
  // If the message moved to a segment, all remaining messages came after it.
  if (at === -1 && (header.segments?.length ?? 0) <= asked.segments) return {at, replies: [], over: 'removed'};
  const after = messages.slice(at + 1);
  const final = after.findIndex((message, i) => isFinal(message) && !goesOn(message, after[i + 1]));
  const replies = (final === -1 ? after : after.slice(0, final + 1)).filter(({role}) => role === 'assistant');
  if (final === -1) return {at, replies, over: stopped(header)};
  if (final + 1 < after.length) return {at, replies, over: 'answered'};
  return {at, replies, over: header.status === 'active' ? undefined : header.status === 'error' ? 'error' : 'answered'};
}

function isSame(message: Message, asked: Message): boolean {
  return message.role === 'user' && message.timestamp === asked.timestamp && message.content === asked.content;
}

function isFinal({role, tool_calls}: Message): boolean {
  return role === 'assistant' && !tool_calls?.length;
}

/** Whether the next message continues an answer that was cut off. */
function goesOn({cut}: Message, next: Message | undefined): boolean {
  return next?.role === 'assistant' || (cut === true && next?.role === 'user' && next.from === 'system');
}

/** The last reply, joined with the parts before it that were cut off. */
export function answerText(replies: readonly Message[]): string {
  let from = replies.length - 1;
  while (from > 0 && replies[from - 1]?.cut === true && isFinal(replies[from - 1] as Message)) from--;
  return replies
    .slice(Math.max(0, from))
    .map(({content}) => content ?? '')
    .join('');
}

function stopped({status}: SessionHeader): WaitEnd | undefined {
  if (status === 'error' || status === 'waiting' || status === 'paused') return status;
  return status === 'completed' ? 'unanswered' : undefined;
}

export interface AnswerUsage {
  input_tokens: number;
  output_tokens: number;
  cost_usd?: number;
}

/** Total usage; null if unknown. */
export function usageOf(replies: readonly Message[]): AnswerUsage | null {
  const told = replies.flatMap(({usage}) => (usage ? [usage] : []));
  if (told.length === 0) return null;
  const sum = (key: 'input_tokens' | 'output_tokens' | 'cost_usd') =>
    told.reduce((total, usage) => total + (usage[key] ?? 0), 0);
  const tokens = {input_tokens: sum('input_tokens'), output_tokens: sum('output_tokens')};
  // A part of the cost would be taken for the whole.
  return told.every(({cost_usd}) => cost_usd !== undefined) ? {...tokens, cost_usd: sum('cost_usd')} : tokens;
}

/** The text of `error:`, which may also be a map with a `message`. */
export function errorOf(header: SessionHeader): string {
  const {error} = header as {error?: unknown};
  const said = typeof error === 'string' ? error : (error as {message?: unknown} | null | undefined)?.message;
  return typeof said === 'string' && said.trim() !== '' ? said : 'it stopped with an error';
}
