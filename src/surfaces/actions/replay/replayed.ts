import type {Difference} from './difference.ts';

/** A version that could not be read: nothing is known of what it held. */
export interface UnreadVersion {
  path: string;
  commit: string | undefined;
  why: string;
}

/** A session that was replayed. */
export interface ReplayedSession {
  session: string;
  path: string;
  /** Whether its file is there: else it was replayed as the journal had it last. */
  there: boolean;
  versions: number;
  answers: number;
  results: number;
  /** There is something left to do: it was replayed as far as it got. */
  working: boolean;
  /** The first one first. */
  differences: Difference[];
  /** What people did that is part of what happened. */
  notes: string[];
  /** The last version, if it cannot be read. */
  unread: UnreadVersion[];
  /** Earlier versions that could not be read: what they held is in later ones. */
  passing: number;
}
