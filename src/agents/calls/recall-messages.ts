import {activeCheckpoint} from '../../decide/context-versions.ts';
import {recallQuery, recallRange} from '../../decide/recall.ts';
import type {Arguments, ToolResult} from '../../effects/tool/tool.ts';
import type {Caller} from '../state/caller.ts';
import type {With} from '../state/parts.ts';

/** Earlier messages of the caller's session, those in segments included. */
export async function recallMessages(
  {turns}: With<'turns'>,
  {of}: Caller,
  {query, from, to = from, offset}: Arguments<'recall'>,
): Promise<ToolResult> {
  const invalid = (error: string): ToolResult => ({success: false, code: 'INVALID_ARGUMENTS', error});
  if ((query === undefined || query.trim() === '') === (from === undefined))
    return invalid('expected either query, or from and to');
  const messages = [...(await turns.segments.messages(of.header?.segments ?? [])), ...of.messages];
  if (query !== undefined && from === undefined) {
    // Messages after the checkpoint are in the request already.
    const {upto = messages.findLastIndex(({role}) => role === 'user')} = activeCheckpoint(of.header ?? {}) ?? {};
    return {success: true, ...recallQuery(messages.slice(0, upto), query)};
  }
  const [first = 1, last = first] = [from, to];
  if (first > messages.length) return invalid(`from: expected at most ${messages.length}, the number of messages`);
  if (last < first) return invalid('to: expected at least from');
  return {success: true, ...recallRange(messages, first, last, offset)};
}
