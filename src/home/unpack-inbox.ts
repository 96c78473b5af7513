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
/** What a rotation puts behind the name, before it compresses. */
const NUMBERED = /^[-_.]?\d[\dTZ_.:-]*\.gz$/;

/** The name that it had before it was compressed; undefined: nobody unpacked it here. */
export function packedName(file: string): string | undefined {
  return file.endsWith(UNPACKED) ? file.slice(0, -UNPACKED.length) : undefined;
}

/**
 * A rotation may have compressed a file that was not read to its end, or others after it. What was read is known again by how it
 * begins. These are unpacked beside, oldest first, by streams of Node's: a simulated disk has no compressed files. The number of the one that was read; undefined: there is nothing more to read.
 */
export async function unpackRotated(disk: Disk, name: string, at: Position): Promise<string | undefined> {
  if (at.offset === 0) return undefined;
  // Renamed while they were looked at, one may have been taken for another.
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

/** It is read. False: nobody unpacked it. */
export function removeUnpacked(disk: Disk, file: string): boolean {
  const isUnpacked = packedName(file) !== undefined;
  if (isUnpacked) rmSync(join(disk.root, 'inbox', file), {force: true});
  return isUnpacked;
}

/** Newest first, with their numbers. */
function packedFiles(disk: Disk): Map<string, bigint> {
  const packed = [...inboxFiles(disk)].filter(([file]) => file.endsWith(PACKED));
  return new Map(packed.sort(([, a], [, b]) => Number(b.mtimeNs - a.mtimeNs)).map(([file, {ino}]) => [file, ino]));
}

/** Whether its text begins as this says: a length, and a digest. */
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
    // It is no such file, or not finished.
    return false;
  } finally {
    source.destroy();
  }
}

/** With the time of the original, by which files are put in order. `made`: where it is now. Undefined: it is damaged. */
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
    // A full disk is another matter: what could be read later is not given up.
    if (`${(error as NodeJS.ErrnoException).code}`.startsWith('Z_')) return undefined;
    throw error;
  }
}

/** How long its text is, as its last bytes say. */
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
