import type {FileStat} from '../disk/disk.ts';
import type {GitConfig, Person} from './git-config.ts';
import {filteredBlob} from './git-filters.ts';
import type {Head} from './git-refs.ts';
import type {Repository} from './git-repository.ts';
import type {Leaf} from './git-trees.ts';

/** One change of a pending entry, with its path in the repository. */
export interface PendingChange {
  path: string;
  bytes: Buffer | undefined;
  mode: string;
  stat: FileStat | undefined;
  /** When it was handed over, milliseconds. */
  since: number;
}

/** A state change that waits to be published. */
export interface PendingEntry {
  changes: readonly PendingChange[];
  author: Person | 'human';
  subject: string;
  trailers: readonly (readonly [string, string])[];
  time: number;
}

export interface PublishedEntry {
  commit: string;
  /** Nothing was to commit: it was there. */
  already: boolean;
  /** What changed, by path in the repository; undefined is removed. */
  blobs: ReadonlyMap<string, string | undefined>;
}

/** A result for each entry prepared; or HEAD or the index moved meanwhile; or why it must wait. */
export type BatchOutcome = {done: PublishedEntry[]} | {moved: true} | {wait: string};

/** Commits on top of one HEAD: prepared one after the other, then published together. */
export interface CommitBatch {
  readonly head: Head;
  prepare(pending: PendingEntry): Promise<void>;
  /** Bytes held in memory. */
  readonly held: number;
  publish(): Promise<BatchOutcome>;
  /** Ready to be thrown away. */
  discard(): void;
}

/** The blob of a change, written; `before` is likely to resemble it. Filters of the person's apply. Throws what the file system throws. */
export async function blobOf(
  {filters, top}: Repository,
  objects: {write(type: 'blob', body: Buffer, before?: string): string},
  change: PendingChange,
  config: GitConfig,
  before?: string,
): Promise<string> {
  const bytes = change.bytes ?? Buffer.alloc(0);
  if (change.mode === '120000' || !filters.mayApply(change.path, config)) return objects.write('blob', bytes, before);
  const made = await filteredBlob(top, change.path, bytes);
  if ('failed' in made) throw new Error(`git hash-object: ${made.failed}`);
  return made.id;
}

/** Where the file system cannot say (core.fileMode, core.symlinks), what was committed last holds. */
export function modeOf(change: PendingChange, before: string | undefined, config: GitConfig): string {
  const regular = change.mode !== '120000';
  if (regular && before === '120000' && !config.symlinks) return before;
  if (regular && !config.fileMode) return before === '100755' ? before : '100644';
  return change.mode;
}

export function isSameLeaf(a: Leaf | undefined, b: Leaf | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode;
}

export function reflogText(subjects: readonly string[]): string {
  const last = subjects.at(-1) ?? '';
  return subjects.length === 1 ? `commit: ${last}` : `commit: ${last} (and ${subjects.length - 1} before)`;
}
