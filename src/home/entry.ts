import type {FileStat} from './disk/disk.ts';

export interface FileChange {
  /** In the home, with "/". */
  path: string;
  /** Undefined: removed. */
  content: {bytes: Buffer; mode: '100644' | '100755' | '120000'} | undefined;
  /** Of the file these bytes were read from, so that the index entry is clean for git status. */
  stat: FileStat | undefined;
}

/** One state change: one commit. */
export interface JournalEntry {
  changes: readonly FileChange[];
  author: {name: string; email: string} | 'human';
  subject: string;
  trailers: readonly (readonly [string, string])[];
  /** When it happened, in milliseconds since 1970; now, if it is not said. */
  time?: number;
}

export interface CommittedEntry {
  commit: string;
  subject: string;
  paths: string[];
}

export interface JournalOptions {
  /** At least so long between two publishes when they go on, for the sake of the person's own git commands. */
  minGapMs?: number;
  /** At most so many commits in one. */
  maxBatch?: number;
  /** Maintenance begins after so long without a change; never with 0. */
  idleMs?: number;
  /** Loose objects from which on maintenance is worth while. */
  maxLoose?: number;
  /** What stands in the way is told once it has for so long. */
  tellMs?: number;
}
