import type {FileStat} from '../disk/disk.ts';

/** Offsets in the fixed part of an entry: ten 4-byte numbers, the id, the flags. */
export const SIZE_AT = 36;
export const ID_AT = 40;
export const FLAGS_AT = 60;
export const FIXED = 62;
export const EXTENDED = 0x4000;
const STAGE = 0x3000;
export const ASSUME_VALID = 0x8000;
export const SKIP_WORKTREE = 0x4000;

/** Git's index, versions 2 and 3: its bytes and the offset of each entry. Entries are decoded on demand. */
export interface Index {
  readonly bytes: Buffer;
  /** The offset of each entry, then that of the extensions. */
  readonly starts: Uint32Array;
  readonly unmerged: boolean;
  readonly extensions: readonly {name: string; body: Buffer}[];
}

export interface IndexChange {
  /** The path in the repository, as bytes. */
  name: Buffer;
  /** Undefined: removed. Without a stat, git compares the file's content. */
  entry: {id: string; mode: number; stat: FileStat | undefined} | undefined;
}

export const emptyGitIndex: Index = {
  bytes: Buffer.alloc(0),
  starts: new Uint32Array(1),
  unmerged: false,
  extensions: [],
};

/** `unsupported`: the index cannot be patched here; use git commands instead. */
export function parseIndex(bytes: Buffer): Index | {unsupported: string} {
  if (bytes.length < 32 || bytes.toString('latin1', 0, 4) !== 'DIRC') return {unsupported: 'no index'};
  const version = bytes.readUInt32BE(4);
  if (version !== 2 && version !== 3) return {unsupported: `index version ${version}`};
  const count = bytes.readUInt32BE(8);
  const starts = new Uint32Array(count + 1);
  let at = 12;
  let unmerged = false;
  for (let i = 0; i < count; i++) {
    if (at + FIXED > bytes.length - 20) return {unsupported: 'a damaged index'};
    starts[i] = at;
    const flags = bytes.readUInt16BE(at + FLAGS_AT);
    if (flags & STAGE) unmerged = true;
    const from = at + FIXED + (flags & EXTENDED ? 2 : 0);
    const short = flags & 0xfff;
    const length = short < 0xfff ? short : bytes.indexOf(0, from) - from;
    at += (from - at + length + 8) & ~7;
  }
  starts[count] = at;
  const extensions: {name: string; body: Buffer}[] = [];
  for (const end = bytes.length - 20; at < end; ) {
    if (at + 8 > end) return {unsupported: 'a damaged index'};
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32BE(at + 4);
    // A lower-case name marks a mandatory extension.
    if (!/^[A-Z]/.test(name)) return {unsupported: `index extension ${name}`};
    extensions.push({name, body: bytes.subarray(at + 8, at + 8 + size)});
    at += 8 + size;
  }
  return {bytes, starts, unmerged, extensions};
}

export function entryCount(index: Index): number {
  return index.starts.length - 1;
}

/** The path of entry i. */
export function entryPath(index: Index, i: number): Buffer {
  const [from, to] = nameRange(index, i);
  return index.bytes.subarray(from, to);
}

function nameRange({bytes, starts}: Index, i: number): [number, number] {
  const at = starts[i] ?? 0;
  const flags = bytes.readUInt16BE(at + FLAGS_AT);
  const from = at + FIXED + (flags & EXTENDED ? 2 : 0);
  return [from, (flags & 0xfff) < 0xfff ? from + (flags & 0xfff) : bytes.indexOf(0, from)];
}

/** The first entry whose path is not before `name`. */
export function lowerBound(index: Index, name: Buffer): number {
  let low = 0;
  let high = entryCount(index);
  while (low < high) {
    const middle = (low + high) >> 1;
    const [from, to] = nameRange(index, middle);
    if (index.bytes.compare(name, 0, name.length, from, to) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function entryMtime({bytes, starts}: Index, i: number): {seconds: number; nanoseconds: number} {
  const at = starts[i] ?? 0;
  return {seconds: bytes.readUInt32BE(at + 8), nanoseconds: bytes.readUInt32BE(at + 12)};
}

export function entryBlob({bytes, starts}: Index, i: number): string {
  const at = (starts[i] ?? 0) + ID_AT;
  return bytes.toString('hex', at, at + 20);
}

/** Whether entry i has this stat, to the nanosecond. */
export function statMatches({bytes, starts}: Index, i: number, stat: FileStat): boolean {
  const at = starts[i] ?? 0;
  const expected = statBytes(stat);
  return (
    bytes.compare(expected, 0, 24, at, at + 24) === 0 && bytes.compare(expected, 28, ID_AT, at + 28, at + ID_AT) === 0
  );
}

/** A stat as git stores it: the low 32 bits of each number. The mode is left out. */
export function statBytes(stat: FileStat): Buffer {
  const bytes = Buffer.alloc(ID_AT);
  const low = (value: bigint) => Number(BigInt.asUintN(32, value));
  bytes.writeUInt32BE(low(stat.ctimeNs / 1_000_000_000n), 0);
  bytes.writeUInt32BE(Number(stat.ctimeNs % 1_000_000_000n), 4);
  bytes.writeUInt32BE(low(stat.mtimeNs / 1_000_000_000n), 8);
  bytes.writeUInt32BE(Number(stat.mtimeNs % 1_000_000_000n), 12);
  bytes.writeUInt32BE(low(stat.dev), 16);
  bytes.writeUInt32BE(low(stat.ino), 20);
  bytes.writeUInt32BE(low(stat.uid), 28);
  bytes.writeUInt32BE(low(stat.gid), 32);
  bytes.writeUInt32BE(low(stat.size), 36);
  return bytes;
}
