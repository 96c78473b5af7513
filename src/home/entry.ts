import type {FileStat} from './disk/disk.ts';

export interface FileChange {
  /** Relative to the home, with "/". */
  path: string;
  /** Undefined: removed. */
  content: {bytes: Buffer; mode: '100644' | '100755' | '120000'} | undefined;
  /** The stat of the file with these bytes, so that `git status` finds it unchanged. */
  stat: FileStat | undefined;
}

/** One state change: a commit of its own, or a part of one (`joins`). */
export interface JournalEntry {
  changes: readonly FileChange[];
  author: {name: string; email: string} | 'human';
  subject: string;
  trailers: readonly (readonly [string, string])[];
  /** Milliseconds since 1970. Default: now. */
  time?: number;
  /**
   * It shares the commit of an entry before it if both are published together. `step`: of the last entry about the same call or approval.
   * `last`: of the last entry, whatever it is about.
   */
  joins?: 'step' | 'last';
}

export interface CommittedEntry {
  commit: string;
  subject: string;
  paths: string[];
}

export interface JournalOptions {
  /** Minimum time between publishes under load, so that the person's own git commands get their turn. */
  minGapMs?: number;
  /** Maximum number of commits in one publish. */
  maxBatch?: number;
  /** Idle time before maintenance. 0: never. */
  idleMs?: number;
  /** Number of loose objects that triggers maintenance. */
  maxLoose?: number;
  /** How long publishing must be blocked before that is reported. */
  tellMs?: number;
}
