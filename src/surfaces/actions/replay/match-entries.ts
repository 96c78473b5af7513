import {type MessagePart, matchMessages} from '../../../formats/merge/message-match.ts';
import type {Message} from '../../../formats/session/session-schema.ts';
import {
  isRecordedMessage,
  type MessageEntry,
  type MessageOrigin,
  type MissingEntry,
  printOf,
  type VersionSource,
} from './entry.ts';
import type {Ledger} from './ledger.ts';

/**
 * Matches the messages of a version by a person, a merge or git with the former version. Remembers changed and missing
 * records; whether they matter is decided at the end.
 */
export function matchEntries(
  before: readonly MessageEntry[],
  messages: readonly Message[],
  {by, path}: {by: VersionSource; path: string},
  ledger: Ledger,
): {entries: MessageEntry[]; gone: MissingEntry[]} {
  let head = 0;
  const shorter = Math.min(before.length, messages.length);
  while (head < shorter && isSame(before[head], messages[head])) head++;
  let tail = 0;
  while (tail < shorter - head && isSame(before.at(-1 - tail), messages.at(-1 - tail))) tail++;
  const from = before.slice(head, before.length - tail);
  const to = messages.slice(head, messages.length - tail);
  const match = matchMessages(
    from.map(partOf),
    to.map(message => partOf({message, print: printOf(message)})),
  );
  // Messages of the first version are not moved; a git merge may have either order.
  const isPlaced = before.length > 0 && !by.engine && !by.joins;
  const placed = (entry: MessageEntry): MessageEntry => (isPlaced ? {...entry, moved: by} : entry);
  const stays = isInOrder(match.from) ? (entry: MessageEntry) => entry : placed;
  const entries = messages.map((message, at): MessageEntry => {
    if (at < head) return keepEntry(before[at] as MessageEntry, message);
    if (at >= messages.length - tail)
      return keepEntry(before[before.length - messages.length + at] as MessageEntry, message);
    const print = printOf(message);
    const was = from[match.from[at - head] as number];
    if (was?.print === print) return stays(keepEntry(was, message));
    const origin: MessageOrigin = {by, path, at, print};
    if (!was || ledger.has(print) || isRecordedMessage(was.message) !== isRecordedMessage(message))
      return placed(ledger.entryFor(message, origin));
    return stays({...was, message, print, edits: print === was.origin.print ? [] : [...was.edits, by]});
  });
  const there = new Set(entries.map(({origin}) => origin));
  const gone = from.flatMap((entry, i): MissingEntry[] => {
    if (there.has(entry.origin)) return [];
    const above = before.slice(Math.max(0, head + i - ABOVE), head + i).toReversed();
    return [{entry, by, above: above.map(({origin}) => origin)}];
  });
  return {entries, gone};
}

/** Whether matched entries keep their order; -1 is new. */
function isInOrder(places: Int32Array): boolean {
  let last = -1;
  return places.every(place => {
    const isNext = place === -1 || place > last;
    if (place !== -1) last = place;
    return isNext;
  });
}

/** How many messages above are remembered, since some may be removed too. */
const ABOVE = 200;

function isSame(entry: MessageEntry | undefined, message: Message | undefined): boolean {
  return (
    entry !== undefined && message !== undefined && (entry.message === message || entry.print === printOf(message))
  );
}

export function keepEntry(entry: MessageEntry, message: Message): MessageEntry {
  return entry.message === message ? entry : {...entry, message};
}

function partOf({message, print}: Pick<MessageEntry, 'message' | 'print'>): MessagePart {
  return {text: print, value: () => message};
}
