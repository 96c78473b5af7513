import type {Difference} from './difference.ts';

/** A version that could not be read. */
export interface UnreadVersion {
  path: string;
  commit: string | undefined;
  why: string;
}

export interface ReplayedSession {
  session: string;
  path: string;
  /** Whether the file exists; otherwise its last committed version was replayed. */
  there: boolean;
  versions: number;
  answers: number;
  results: number;
  /** The session is still active. */
  working: boolean;
  differences: Difference[];
  /** Edits by people that count as inputs. */
  notes: string[];
  unread: UnreadVersion[];
  /** Number of unreadable earlier versions. */
  passing: number;
}
