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
  /** When the change was queued, in milliseconds since 1970. */
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
  /** HEAD already had the change: no new commit. */
  already: boolean;
  /** Blob ids by path in the repository. Undefined: removed. */
  blobs: ReadonlyMap<string, string | undefined>;
}

/** `done`: a result for each prepared entry. `moved`: HEAD or the index changed meanwhile. `wait`: why to try again later. */
export type BatchOutcome = {done: PublishedEntry[]} | {moved: true} | {wait: string};

/** Commits on top of one HEAD, prepared one by one and published together. */
export interface CommitBatch {
  readonly head: Head;
  prepare(pending: PendingEntry): Promise<void>;
  /** Bytes held in memory. */
  readonly held: number;
  publish(): Promise<BatchOutcome>;
  /** Remove temporary files. */
  discard(): void;
}

/** Write the blob of a change, with the person's git filters, and return its id. `before`: the id of a similar blob. */
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

/** The mode to commit. If the file system has no modes or links (core.fileMode, core.symlinks), keep the committed mode. */
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
