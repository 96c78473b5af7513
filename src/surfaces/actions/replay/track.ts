import {isSegment, stemOf} from '../../../formats/common/key.ts';
import type {Session} from '../../../formats/session/session.ts';
import type {Message, SessionHeader} from '../../../formats/session/session-schema.ts';
import {copyState, emptyState, type HomeState} from '../verify/home-state.ts';
import type {MessageEntry, MissingEntry, VersionSource} from './entry.ts';

/** A file of a session as one version has it. */
export interface Track {
  path: string;
  session: Session;
  text: string;
  /** Of its own messages. */
  entries: readonly MessageEntry[];
  gone: readonly MissingEntry[];
  versions: number;
  last: VersionSource;
  /** From how many versions its messages were read. */
  read: number;
}

/** The home as a commit has it, as far as a replay needs it. */
export interface PastHome {
  home: HomeState;
  /** As it was before the last change of the policy, the settings or a template, and when that was. */
  former: {home: HomeState; time: string} | undefined;
  tracks: Map<string, Track>;
  /** Files that were removed, by the id of their session: they may come back under another name. */
  removed: Map<string, Track>;
}

export function emptyHome(): PastHome {
  return {home: emptyState(), former: undefined, tracks: new Map(), removed: new Map()};
}

/** For another commit that goes on from the same. */
export function copyHome({home, former, tracks, removed}: PastHome): PastHome {
  return {home: copyState(home), former, tracks: new Map(tracks), removed: new Map(removed)};
}

/** The session that a file belongs to. */
export function sessionIdOf(path: string): string {
  const stem = stemOf(path);
  return isSegment(path) ? stem.replace(/\.\d+$/, '') : stem;
}

/** With the messages that the session has in segments. */
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

/** For each version of a long session: a spread or flatMap of thousands takes ten times as long. */
function joined<T>(lists: readonly (readonly T[])[], last: readonly T[]): T[] {
  return ([] as T[]).concat(...lists, last);
}

/** How many of the first messages two versions have in the same segments: nothing is done about those. */
export function settledIn({tracks}: PastHome, before: Partial<SessionHeader>, after: Partial<SessionHeader>): number {
  let settled = 0;
  for (const [i, path] of (before.segments ?? []).entries()) {
    if (after.segments?.[i] !== path) break;
    settled += tracks.get(path)?.entries.length ?? 0;
  }
  return settled;
}
