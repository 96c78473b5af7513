import type {Message} from '../formats/session/session-schema.ts';

/** How many waiting lines of inboxes a request has at most. */
const MOST_LINES = 50;
/** With more lines waiting, what was handled is compacted after so many of them. */
const HANDLED = 200;

const isLine = ({role, from}: Message) => role === 'user' && from?.startsWith('inbox/') === true;

/**
 * How many messages the next request covers. While many lines of inboxes wait, it is some of them: the answer goes below
 * those, and the next request covers the next ones. A turn under way is finished first.
 */
export function batchEnd(messages: readonly Message[]): number {
  const last = messages.findLastIndex(({role}) => role === 'assistant');
  let lines = 0;
  let end = messages.length;
  let first = -1;
  for (let i = last + 1; i < messages.length; i++) {
    if (!isLine(messages[i] as Message)) continue;
    if (first === -1) first = i;
    if (++lines === MOST_LINES + 1) end = i;
  }
  if (lines <= MOST_LINES) return messages.length;
  const isUnderWay = (messages[last]?.tool_calls?.length ?? 0) > 0;
  return isUnderWay && first > last + 1 ? first : end;
}

/** Whether more lines wait than one request has, and enough were handled since the checkpoint, to compact those. */
export function isFlooded(messages: readonly Message[], from: number): boolean {
  const end = batchEnd(messages);
  if (end === messages.length) return false;
  const last = messages.findLastIndex(({role}) => role === 'assistant');
  let handled = 0;
  for (let i = from; i < last; i++) if (isLine(messages[i] as Message)) handled++;
  return handled >= HANDLED;
}
