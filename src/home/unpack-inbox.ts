import {
  closeSync,
  createReadStream,
  createWriteStream,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import {utimes} from 'node:fs/promises';
import {join} from 'node:path';
import {pipeline} from 'node:stream/promises';
import {isDeepStrictEqual} from 'node:util';
import {createGunzip} from 'node:zlib';
import type {Position} from '../formats/cursor-file.ts';
import type {Disk} from './disk/disk.ts';
import {inboxFiles} from './inbox-files.ts';
import {inboxDigest} from './inbox-lines.ts';
import {temporaryBeside} from './temporary.ts';

const PACKED = '.gz';
const UNPACKED = '.gz.unpacked';
/** The suffix of a rotated and compressed file. */
const NUMBERED = /^[-_.]?\d[\dTZ_.:-]*\.gz$/;

/** The name of an unpacked file before its compression. Undefined: not an unpacked file. */
export function packedName(file: string): string | undefined {
  return file.endsWith(UNPACKED) ? file.slice(0, -UNPACKED.length) : undefined;
}

/**
 * Unpack files that a rotation compressed before they were read to their end. The digest of its beginning identifies the file that was
 * being read; it and later ones are unpacked, oldest first. Uses node:fs directly: a simulated disk has no compressed files. Returns the
 * inode of the file that was being read. Undefined: nothing more to read.
 */
export async function unpackRotated(disk: Disk, name: string, at: Position): Promise<string | undefined> {
  if (at.offset === 0) return undefined;
  // If files were renamed meanwhile, one may have been mistaken for another: try again.
  for (let files = packedFiles(disk), n = 0; ; n++) {
    const made: string[] = [];
    const found = await unpackFrom(disk, [...files.keys()], {name, at, made});
    const now = packedFiles(disk);
    if (isDeepStrictEqual(now, files) || n === MOST_TRIES) return found;
    for (const place of made) rmSync(place, {force: true});
    files = now;
  }
}

const MOST_TRIES = 20;

async function unpackFrom(
  disk: Disk,
  files: readonly string[],
  {name, at, made}: {name: string; at: Position; made: string[]},
): Promise<string | undefined> {
  const stem = name.replace(/\.jsonl$/, '');
  const later: string[] = [];
  for (const file of files.filter(each => each.startsWith(stem))) {
    if (await begins(join(disk.root, 'inbox', file), at.head)) {
      const isRead = later.length === 0 && sizeOf(join(disk.root, 'inbox', file)) === at.offset % 2 ** 32;
      const unpacked = isRead ? undefined : await unpack(disk, file, made);
      for (const each of unpacked === undefined ? [] : later.reverse()) await unpack(disk, each, made);
      return unpacked;
    }
    if (file.startsWith(name) && NUMBERED.test(file.slice(name.length))) later.push(file);
  }
  return undefined;
}

/** Remove an unpacked file after reading it. False: not an unpacked file. */
export function removeUnpacked(disk: Disk, file: string): boolean {
  const isUnpacked = packedName(file) !== undefined;
  if (isUnpacked) rmSync(join(disk.root, 'inbox', file), {force: true});
  return isUnpacked;
}

/** Compressed files with their inodes, newest first. */
function packedFiles(disk: Disk): Map<string, bigint> {
  const packed = [...inboxFiles(disk)].filter(([file]) => file.endsWith(PACKED));
  return new Map(packed.sort(([, a], [, b]) => Number(b.mtimeNs - a.mtimeNs)).map(([file, {ino}]) => [file, ino]));
}

/** Whether the unpacked text begins as in `head`, which has a length and a digest. */
async function begins(place: string, head: string): Promise<boolean> {
  const length = Number.parseInt(head, 10);
  const source = createReadStream(place);
  const chunks: Buffer[] = [];
  let got = 0;
  try {
    const gunzip = createGunzip();
    source.once('error', error => gunzip.destroy(error));
    for await (const chunk of source.pipe(gunzip)) {
      chunks.push(chunk as Buffer);
      got += (chunk as Buffer).length;
      if (got >= length) break;
    }
    return got >= length && inboxDigest(Buffer.concat(chunks).subarray(0, length), length) === head;
  } catch {
    // Not gzip, or not complete yet.
    return false;
  } finally {
    source.destroy();
  }
}

/** Unpack a file and keep its times, which define the order. Adds the path to `made`. Returns the inode; undefined: the file is damaged. */
async function unpack(disk: Disk, file: string, made: string[]): Promise<string | undefined> {
  const packed = join(disk.root, 'inbox', file);
  const target = `${packed.slice(0, -PACKED.length)}${UNPACKED}`;
  const temporary = temporaryBeside(disk, target);
  try {
    await pipeline(createReadStream(packed), createGunzip(), createWriteStream(temporary));
    const {atime, mtime} = statSync(packed);
    await utimes(temporary, atime, mtime);
    renameSync(temporary, target);
    made.push(target);
    return `${statSync(target, {bigint: true}).ino}`;
  } catch (error) {
    rmSync(temporary, {force: true});
    // Give up on a damaged file only. After a full disk, a later try may succeed.
    if (`${(error as NodeJS.ErrnoException).code}`.startsWith('Z_')) return undefined;
    throw error;
  }
}

/** The length of the unpacked text modulo 2^32, from the last bytes of the file. */
function sizeOf(place: string): number | undefined {
  const fd = openSync(place, 'r');
  try {
    const bytes = Buffer.alloc(4);
    const {size} = statSync(place);
    return readSync(fd, bytes, 0, 4, Math.max(0, size - 4)) === 4 ? bytes.readUInt32LE() : undefined;
  } finally {
    closeSync(fd);
  }
}
