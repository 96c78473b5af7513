import {type BigIntStats, closeSync, fstatSync, lstatSync, openSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {crashPoint} from '../../home/disk/crash.ts';
import {
  EXTENDED,
  emptyGitIndex,
  entryBlob,
  entryCount,
  entryMtime,
  entryPath,
  FIXED,
  FLAGS_AT,
  type Index,
  type IndexChange,
  lowerBound,
  parseIndex,
  SKIP_WORKTREE,
  statMatches,
} from '../../home/git/git-index.ts';
import {isSameFile} from '../../home/git/git-index-file.ts';
import {patchIndex} from '../../home/git/git-index-patch.ts';
import {release} from '../../home/git/git-locks.ts';

const MODE_AT = 24;

/** Parsed index: committed or staged files, with their stats. */
export interface IndexState {
  index: Index;
  stat: BigIntStats | undefined;
  /** Modification time of the index file. */
  since: {seconds: number; nanoseconds: number};
  path: string;
  /** Position of each path (bytes as latin1), once many are looked up. */
  places: Map<string, number> | undefined;
}

export function readIndex(gitDir: string, before?: IndexState): IndexState | {unsupported: string} {
  const path = join(gitDir, 'index');
  if (before?.path === path && isCurrent(before)) return before;
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return {index: emptyGitIndex, stat: undefined, since: timeOf(0n), path, places: undefined};
  }
  try {
    const stat = fstatSync(fd, {bigint: true});
    const index = parseIndex(readFileSync(fd));
    return 'unsupported' in index ? index : {index, stat, since: timeOf(stat.mtimeNs), path, places: undefined};
  } finally {
    closeSync(fd);
  }
}

export function isCurrent({path, stat}: IndexState): boolean {
  const now = lstatSync(path, {throwIfNoEntry: false, bigint: true});
  if (!now || !stat) return !now && !stat;
  return isSameFile(now, stat) && now.ctimeNs === stat.ctimeNs;
}

export function placeIn({index, places}: IndexState, name: string): number | undefined {
  if (places) return places.get(name);
  const bytes = Buffer.from(name, 'latin1');
  const at = lowerBound(index, bytes);
  return at < entryCount(index) && entryPath(index, at).equals(bytes) ? at : undefined;
}

/** Build the map of positions before many lookups. */
export function learnPlaces(state: IndexState): void {
  if (state.places) return;
  state.places = new Map();
  for (let i = 0, count = entryCount(state.index); i < count; i++) state.places.set(nameIn(state, i), i);
}

/** Range of entries below a path; '' means all. */
export function below({index}: IndexState, name: string): [number, number] {
  if (name === '') return [0, entryCount(index)];
  return [lowerBound(index, Buffer.from(`${name}/`, 'latin1')), lowerBound(index, Buffer.from(`${name}0`, 'latin1'))];
}

export function modeIn({index}: IndexState, i: number): number {
  return index.bytes.readUInt32BE((index.starts[i] ?? 0) + MODE_AT);
}

/** Whether a person has set skip-worktree for this file. */
export function isSkipped({index: {bytes, starts}}: IndexState, i: number): boolean {
  const at = starts[i] ?? 0;
  return (bytes.readUInt16BE(at + FLAGS_AT) & EXTENDED) !== 0 && (bytes.readUInt16BE(at + FIXED) & SKIP_WORKTREE) !== 0;
}

/** Whether the stat proves the file unchanged; not if the index is no newer than the file. */
export function isUnchanged(state: IndexState, i: number, stat: BigIntStats): boolean {
  return statMatches(state.index, i, stat) && !isRacy(state, i);
}

/** A change within the same clock tick does not show in the stat. */
function isRacy({index, since}: IndexState, i: number): boolean {
  const {seconds, nanoseconds} = entryMtime(index, i);
  return seconds > since.seconds || (seconds === since.seconds && nanoseconds >= since.nanoseconds);
}

function timeOf(ns: bigint): IndexState['since'] {
  return {seconds: Number(ns / 1_000_000_000n), nanoseconds: Number(ns % 1_000_000_000n)};
}

/**
 * Write the index with these changes to `path`. Entries that changed within the clock tick of the old index lose their
 * stat, as in git: a newer index would otherwise hide such changes.
 */
export function writeIndex(state: IndexState, path: string, changes: readonly IndexChange[]): void {
  const sorted = [...changes].sort((a, b) => a.name.compare(b.name));
  const racy: number[] = [];
  for (let i = 0, count = entryCount(state.index); state.stat && i < count; i++) if (isRacy(state, i)) racy.push(i);
  release(path);
  writeFileSync(path, patchIndex(state.index, sorted, racy), {flag: 'wx'});
  crashPoint('journal-index-temp');
}

/** Path of an entry (bytes as latin1). */
export function nameIn({index}: IndexState, i: number): string {
  return entryPath(index, i).toString('latin1');
}

export function blobIn({index}: IndexState, i: number): string {
  return entryBlob(index, i);
}
