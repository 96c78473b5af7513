import {createHash} from 'node:crypto';
import {closeSync, mkdirSync, openSync, renameSync, rmSync, writeSync} from 'node:fs';
import {join} from 'node:path';
import {setImmediate as turn} from 'node:timers/promises';
import {crc32} from 'node:zlib';
import {crashPoint} from '../disk/crash.ts';
import type {ObjectType} from './git-objects.ts';

/** An encoded object of a pack. */
export interface PackEntry {
  id: Buffer;
  bytes: Buffer[];
  length: number;
  crc: number;
}

const numbers = {commit: 1, tree: 2, blob: 3, delta: 7} as const;

/** Encode an object whole or, with `base`, as a delta from another object of the same pack. `length`: before compression. */
export function packEntry(
  id: string,
  type: ObjectType | 'delta',
  length: number,
  data: Buffer,
  base?: string,
): PackEntry {
  const head = entryHead(numbers[type], length, base);
  return {
    id: Buffer.from(id, 'hex'),
    bytes: [head, data],
    length: head.length + data.length,
    crc: crc32(data, crc32(head)),
  };
}

/**
 * Write objects (sha1, each once) as one pack with its index. Git sees the pack once its index is in place. Yields to the event loop,
 * because a pack may be large.
 */
export async function writePack(objectsDir: string, entries: readonly PackEntry[]): Promise<void> {
  const placed: {entry: PackEntry; at: number}[] = [];
  let at = 12;
  for (const entry of entries) {
    placed.push({entry, at});
    at += entry.length;
  }
  const start = Buffer.alloc(12);
  start.write('PACK', 'latin1');
  start.writeUInt32BE(2, 4);
  start.writeUInt32BE(placed.length, 8);
  const pack = Buffer.concat([start, ...entries.flatMap(({bytes}) => bytes), Buffer.alloc(20)]);
  const sum = createHash('sha1').update(pack.subarray(0, at)).digest();
  sum.copy(pack, at);
  await turn();
  const folder = join(objectsDir, 'pack');
  const name = `pack-${sum.toString('hex')}`;
  // Git's names for temporary files: git prune removes them after a crash.
  const temporary = [join(folder, `tmp_pack_${name}`), join(folder, `tmp_idx_${name}`)] as const;
  try {
    mkdirSync(folder, {recursive: true});
    put(temporary[0], pack);
    await turn();
    put(temporary[1], packIndex(placed, sum));
    renameSync(temporary[0], join(folder, `${name}.pack`));
    crashPoint('journal-pack');
    renameSync(temporary[1], join(folder, `${name}.idx`));
    crashPoint('journal-pack');
  } catch (error) {
    for (const path of temporary) rmSync(path, {force: true});
    throw error;
  }
}

/** The type, the size as a variable-length number (4 bits, then 7 bits per byte), and the id of the delta's base. */
function entryHead(type: number, size: number, base = ''): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = size >>> 4; rest > 0; rest >>>= 7) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest & 0x7f);
  }
  return base ? Buffer.concat([Buffer.from(bytes), Buffer.from(base, 'hex')]) : Buffer.from(bytes);
}

function packIndex(placed: {entry: PackEntry; at: number}[], sum: Buffer): Buffer {
  placed.sort((a, b) => a.entry.id.compare(b.entry.id));
  const count = placed.length;
  const bytes = Buffer.alloc(8 + 1024 + count * 28 + 40);
  bytes.writeUInt32BE(0xff744f63, 0);
  bytes.writeUInt32BE(2, 4);
  for (const [i, {entry, at}] of placed.entries()) {
    const {id, crc} = entry;
    bytes.writeUInt32BE(i + 1, 8 + (id[0] ?? 0) * 4);
    id.copy(bytes, 1032 + i * 20);
    bytes.writeUInt32BE(crc, 1032 + count * 20 + i * 4);
    bytes.writeUInt32BE(at, 1032 + count * 24 + i * 4);
  }
  // The fan-out table: entry i counts the ids whose first byte is at most i.
  for (let i = 1, before = bytes.readUInt32BE(8); i < 256; i++) {
    before = bytes.readUInt32BE(8 + i * 4) || before;
    bytes.writeUInt32BE(before, 8 + i * 4);
  }
  const end = 1032 + count * 28;
  sum.copy(bytes, end);
  createHash('sha1')
    .update(bytes.subarray(0, end + 20))
    .digest()
    .copy(bytes, end + 20);
  return bytes;
}

function put(path: string, bytes: Buffer): void {
  rmSync(path, {force: true});
  const fd = openSync(path, 'wx', 0o444);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  } finally {
    closeSync(fd);
  }
  crashPoint('journal-pack');
}
