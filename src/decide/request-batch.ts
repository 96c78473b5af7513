import type {Message} from '../formats/session/session-schema.ts';
import {messageSize} from './token-size.ts';

/** How many waiting lines of inboxes a request has at most. */
const MOST_LINES = 50;
/** With more lines waiting, what was handled is compacted after so many of them. */
const HANDLED = 200;

/** Characters of waiting lines in a request, for each token of the window. */
const SHARE = 0.8;

const isLine = ({role, from}: Message) => role === 'user' && from?.startsWith('inbox/') === true;

/**
 * How many messages the next request covers. While many lines of inboxes wait, it is some of them: the answer goes below
 * those, and the next request covers the next ones. A turn under way is finished first. `window`: that of the model, in tokens.
 */
export function batchEnd(messages: readonly Message[], window = Number.POSITIVE_INFINITY): number {
  const last = messages.findLastIndex(({role}) => role === 'assistant');
  const room = window * SHARE;
  let [lines, size, first] = [0, 0, -1];
  for (let i = last + 1; i < messages.length; i++) {
    const message = messages[i] as Message;
    if (!isLine(message)) continue;
    if (first === -1) first = i;
    lines++;
    size += messageSize(message);
    if (lines === 1 || (lines <= MOST_LINES && size <= room)) continue;
    const isUnderWay = (messages[last]?.tool_calls?.length ?? 0) > 0;
    return isUnderWay && first > last + 1 ? first : i;
  }
  return messages.length;
}

/** Whether more lines wait than one request has. */
export function hasBatches(messages: readonly Message[]): boolean {
  return batchEnd(messages) < messages.length;
}

/** Whether more lines wait than one request has, and enough were handled since the checkpoint, to compact those. */
export function isFlooded(messages: readonly Message[], from: number): boolean {
  if (!hasBatches(messages)) return false;
  const last = messages.findLastIndex(({role}) => role === 'assistant');
  let handled = 0;
  for (let i = from; i < last; i++) if (isLine(messages[i] as Message)) handled++;
  return handled >= HANDLED;
}
