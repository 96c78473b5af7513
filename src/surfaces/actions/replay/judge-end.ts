import type {Message} from '../../../formats/session/session-schema.ts';
import {
  isRecordedMessage,
  type MessageEntry,
  type MessageOrigin,
  type MissingEntry,
  type VersionSource,
} from './entry.ts';
import {outOfPlace} from './out-of-place.ts';
import {sessionIdOf} from './track.ts';

/** A message that differs between its recording and the last version. */
export interface EntryFate {
  kind: 'changed' | 'missing' | 'added' | 'moved';
  entry: MessageEntry;
  by: VersionSource;
  /** Index of the message; for a missing one, the index it followed. */
  at: number;
  /** An input, not a difference: no later answer contradicts it. */
  intended: boolean;
}

/**
 * Decides which edits are differences. People may edit anything, but an answer is based on the messages above it. So a
 * recorded message that was changed, moved, inserted or removed above an older answer is a difference, unless the model
 * was asked again.
 */
export function judgeEnd(
  session: string,
  entries: readonly MessageEntry[],
  gone: readonly MissingEntry[],
): EntryFate[] {
  const fates: EntryFate[] = [];
  const below = ordersBelow(entries);
  const copies = copiesIn(session, entries);
  const moved = new Set(outOfPlace(entries));
  for (const [at, entry] of entries.entries()) {
    const {origin, edits, message} = entry;
    const since = below[at];
    const by = edits.at(-1);
    const put = entry.moved;
    if (put && copies.has(at))
      fates.push({kind: 'added', entry, by: put, at, intended: !since || since.least > put.order});
    else if (by && origin.by.engine && isRecordedMessage(message)) {
      const intended = !by.wrong && since !== undefined && since.least > by.order;
      fates.push({kind: 'changed', entry, by, at, intended});
    } else if (put && moved.has(at))
      fates.push({kind: 'moved', entry, by: put, at, intended: since !== undefined && since.least > put.order});
    else if (by && since && since.least < by.order) fates.push({kind: 'changed', entry, by, at, intended: true});
    if (!origin.by.engine && isRecordedMessage(message))
      fates.push({kind: 'added', entry, by: origin.by, at, intended: !since || since.least > origin.by.order});
  }
  const places = new Map<MessageOrigin, number>(entries.map(({origin}, at) => [origin, at]));
  for (const {entry, by, above} of gone) {
    if (!isRecordedMessage(entry.message) || !entry.origin.by.engine || places.has(entry.origin)) continue;
    const at = above.map(origin => places.get(origin)).find(place => place !== undefined) ?? -1;
    const saw = entries
      .slice(at + 1)
      .some(
        ({message, origin}) =>
          isAnswer(message, origin) && origin.by.order > entry.origin.by.order && origin.by.order < by.order,
      );
    fates.push({kind: 'missing', entry, by, at, intended: !saw && !by.wrong});
  }
  return fates;
}

/** Indexes of recorded messages that were copied here from elsewhere. */
function copiesIn(session: string, entries: readonly MessageEntry[]): ReadonlySet<number> {
  if (!entries.some(({moved}) => moved)) return new Set();
  const first = new Map<MessageOrigin, number>();
  for (const [at, {origin, moved}] of entries.entries())
    if (!first.has(origin) || (!moved && entries[first.get(origin) as number]?.moved)) first.set(origin, at);
  // The session may have been renamed or forked.
  const names = new Set([session, ...entries.filter(({moved}) => !moved).map(({origin}) => sessionIdOf(origin.path))]);
  const isCopy = ({message, origin, moved}: MessageEntry, at: number) =>
    moved && isRecordedMessage(message) && (first.get(origin) !== at || !names.has(sessionIdOf(origin.path)));
  return new Set([...entries.keys()].filter(at => isCopy(entries[at] as MessageEntry, at)));
}

/** For each index, the earliest recorded answer below it. */
function ordersBelow(entries: readonly MessageEntry[]): ({least: number} | undefined)[] {
  const below: ({least: number} | undefined)[] = [];
  let least: number | undefined;
  for (let at = entries.length - 1; at >= 0; at--) {
    below[at] = least === undefined ? undefined : {least};
    const {message, origin} = entries[at] as MessageEntry;
    if (isAnswer(message, origin)) least = Math.min(least ?? Number.POSITIVE_INFINITY, origin.by.order);
  }
  return below;
}

function isAnswer({role}: Message, {by}: MessageOrigin): boolean {
  return role === 'assistant' && by.engine;
}
