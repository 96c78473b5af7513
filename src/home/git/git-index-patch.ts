import {createHash} from 'node:crypto';
import {
  ASSUME_VALID,
  EXTENDED,
  entryCount,
  entryPath,
  FIXED,
  FLAGS_AT,
  ID_AT,
  type Index,
  type IndexChange,
  lowerBound,
  SIZE_AT,
  SKIP_WORKTREE,
  statBytes,
} from './git-index.ts';
import {invalidateTrees} from './git-index-trees.ts';

const MODE_AT = 24;
const SUBMODULE = 0o160000;

/** Apply changes (sorted by name, each name once). `smudged`: entries whose size is set to 0, so that git compares their content. */
export function patchIndex(index: Index, changes: readonly IndexChange[], smudged: readonly number[]): Buffer {
  const {bytes, starts} = index;
  const removed = new Set<number>();
  const added: {at: number; bytes: Buffer}[] = [];
  for (const {name, entry} of changes) {
    const at = lowerBound(index, name);
    const old = flagsOf(index, at, name);
    if (old) removed.add(at);
    if (!entry) continue;
    // A new name may conflict with a file above it or with entries below it.
    if (!old) for (const place of [...above(index, name), ...below(index, name)]) removed.add(place);
    added.push({at, bytes: newEntry(name, entry, old?.flags ?? 0, old?.more ?? 0)});
  }
  const head = Buffer.alloc(12);
  const parts: Buffer[] = [head];
  let next = 0;
  const copyTo = (to: number) => {
    if (to > next) parts.push(bytes.subarray(starts[next], starts[to]));
    next = Math.max(next, to);
  };
  const cuts = [...removed].sort((a, b) => a - b);
  for (const {at, bytes: entry} of added) {
    for (; cuts[0] !== undefined && cuts[0] < at; next = (cuts.shift() ?? 0) + 1) copyTo(cuts[0]);
    copyTo(at);
    parts.push(entry);
  }
  for (const cut of cuts) {
    copyTo(cut);
    next = cut + 1;
  }
  copyTo(entryCount(index));
  const smudges = smudgeOffsets(index, smudged, removed, parts);
  for (const {name, body} of index.extensions) {
    const kept = name === 'TREE' ? invalidateTrees(body, changes) : name === 'REUC' ? body : undefined;
    if (!kept) continue;
    const start = Buffer.alloc(8);
    start.write(name, 'latin1');
    start.writeUInt32BE(kept.length, 4);
    parts.push(start, kept);
  }
  parts.push(Buffer.alloc(20));
  head.write('DIRC', 'latin1');
  head.writeUInt32BE(bytes.length > 0 ? bytes.readUInt32BE(4) : 2, 4);
  head.writeUInt32BE(entryCount(index) - removed.size + added.length, 8);
  const patched = Buffer.concat(parts);
  for (const at of smudges) patched.writeUInt32BE(0, at + SIZE_AT);
  createHash('sha1')
    .update(patched.subarray(0, patched.length - 20))
    .digest()
    .copy(patched, patched.length - 20);
  return patched;
}

/** The assume-valid and skip-worktree flags of entry i, if it has this name. */
function flagsOf(index: Index, i: number, name: Buffer): {flags: number; more: number} | undefined {
  if (i >= entryCount(index) || !entryPath(index, i).equals(name)) return undefined;
  const at = index.starts[i] ?? 0;
  const flags = index.bytes.readUInt16BE(at + FLAGS_AT);
  // Flags of a submodule do not carry over to a file in its place.
  if (index.bytes.readUInt32BE(at + MODE_AT) === SUBMODULE) return {flags: 0, more: 0};
  return {
    flags: flags & ASSUME_VALID,
    more: flags & EXTENDED ? index.bytes.readUInt16BE(at + FIXED) & SKIP_WORKTREE : 0,
  };
}

/** File entries where `name` needs a folder. */
function above(index: Index, name: Buffer): number[] {
  const found: number[] = [];
  for (let slash = name.indexOf(47); slash !== -1; slash = name.indexOf(47, slash + 1)) {
    const folder = name.subarray(0, slash);
    const place = lowerBound(index, folder);
    if (place < entryCount(index) && entryPath(index, place).equals(folder)) found.push(place);
  }
  return found;
}

/** Entries inside a folder that the file `name` replaces. */
function below(index: Index, name: Buffer): number[] {
  const found: number[] = [];
  const folder = Buffer.concat([name, Buffer.from('/')]);
  for (let i = lowerBound(index, folder); i < entryCount(index); i++) {
    const other = entryPath(index, i);
    if (other.length < folder.length || !other.subarray(0, folder.length).equals(folder)) break;
    found.push(i);
  }
  return found;
}

function newEntry(name: Buffer, entry: NonNullable<IndexChange['entry']>, flags: number, more: number): Buffer {
  const from = FIXED + (more ? 2 : 0);
  const bytes = Buffer.alloc((from + name.length + 8) & ~7);
  if (entry.stat) statBytes(entry.stat).copy(bytes);
  bytes.writeUInt32BE(entry.mode, 24);
  bytes.write(entry.id, ID_AT, 'hex');
  bytes.writeUInt16BE(flags | (more ? EXTENDED : 0) | Math.min(name.length, 0xfff), FLAGS_AT);
  if (more) bytes.writeUInt16BE(more, FIXED);
  name.copy(bytes, from);
  return bytes;
}

/** The offsets of smudged entries in the concatenated parts. */
function smudgeOffsets(
  index: Index,
  smudged: readonly number[],
  removed: ReadonlySet<number>,
  parts: readonly Buffer[],
) {
  const offsets: number[] = [];
  const remaining = smudged.filter(i => !removed.has(i));
  let at = 0;
  let k = 0;
  for (const part of parts) {
    // For parts of the old index, `byteOffset` gives their old position.
    const from = part.buffer === index.bytes.buffer ? part.byteOffset - index.bytes.byteOffset : -1;
    for (; from >= 0 && k < remaining.length; k++) {
      const start = index.starts[remaining[k] ?? 0] ?? 0;
      if (start >= from + part.length) break;
      offsets.push(at + start - from);
    }
    at += part.length;
  }
  return offsets;
}
