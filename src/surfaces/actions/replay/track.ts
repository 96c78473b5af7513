import {isSegment, stemOf} from '../../../formats/common/key.ts';
import type {Session} from '../../../formats/session/session.ts';
import type {Message, SessionHeader} from '../../../formats/session/session-schema.ts';
import {copyState, emptyState, type HomeState} from '../verify/home-state.ts';
import type {MessageEntry, MissingEntry, VersionSource} from './entry.ts';

/** One version of a session file. */
export interface Track {
  path: string;
  session: Session;
  text: string;
  entries: readonly MessageEntry[];
  gone: readonly MissingEntry[];
  versions: number;
  last: VersionSource;
  /** How many versions its messages were read from. */
  read: number;
}

/** The state of the home at a commit. */
export interface PastHome {
  home: HomeState;
  /** The state and time before the last change of policy, settings or templates. */
  former: {home: HomeState; time: string} | undefined;
  tracks: Map<string, Track>;
  /** Removed files by session id: they may come back under another name. */
  removed: Map<string, Track>;
}

export function emptyHome(): PastHome {
  return {home: emptyState(), former: undefined, tracks: new Map(), removed: new Map()};
}

/** Copies the state for another child commit. */
export function copyHome({home, former, tracks, removed}: PastHome): PastHome {
  return {home: copyState(home), former, tracks: new Map(tracks), removed: new Map(removed)};
}

/** The session that a file belongs to. */
export function sessionIdOf(path: string): string {
  const stem = stemOf(path);
  return isSegment(path) ? stem.replace(/\.\d+$/, '') : stem;
}

/** All messages, including segments. */
export function allEntries(
  {tracks}: PastHome,
  {segments = []}: Partial<SessionHeader>,
  own: readonly MessageEntry[],
): MessageEntry[] {
  return segments.length === 0
    ? [...own]
    : joined(
        segments.map(path => tracks.get(path)?.entries ?? []),
        own,
      );
}

export function allMessages({tracks}: PastHome, {header, messages}: Session): readonly Message[] {
  const segments = header?.segments ?? [];
  if (segments.length === 0) return messages;
  return joined(
    segments.map(path => tracks.get(path)?.session.messages ?? []),
    messages,
  );
}

/** Uses concat: spread or flatMap take ten times as long for thousands of messages. */
function joined<T>(lists: readonly (readonly T[])[], last: readonly T[]): T[] {
  return ([] as T[]).concat(...lists, last);
}

/** The number of leading messages in segments shared by two versions. */
export function settledIn({tracks}: PastHome, before: Partial<SessionHeader>, after: Partial<SessionHeader>): number {
  let settled = 0;
  for (const [i, path] of (before.segments ?? []).entries()) {
    if (after.segments?.[i] !== path) break;
    settled += tracks.get(path)?.entries.length ?? 0;
  }
  return settled;
}
