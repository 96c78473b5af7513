import {createWriteStream, renameSync, rmSync, statSync} from 'node:fs';
import {type FileHandle, open, utimes} from 'node:fs/promises';
import {join} from 'node:path';
import {pipeline} from 'node:stream/promises';
import {createGunzip} from 'node:zlib';
import type {FinishedFile} from '../formats/cursor-file.ts';
import type {Disk} from './disk/disk.ts';
import {inboxDigest} from './inbox-lines.ts';
import {temporaryBeside} from './temporary.ts';

/**
 * Inbox files that a rotation compressed. Uses node:fs directly: a simulated disk has no compressed files. Other processes may rename the
 * files meanwhile, so each function opens its file once and gives up if that has another inode than expected.
 */

const PACKED = '.gz';
/** The inode of the compressed file is part of the name: numbered files change their names. */
const UNPACKED = /\.\d+\.gz\.unpacked$/;

export function isPacked(file: string): boolean {
  return file.endsWith(PACKED);
}

/** The name of the file before it was compressed and unpacked: `slack.jsonl.1`. */
export function nameBeforePacking(file: string): string {
  return file.replace(UNPACKED, '').replace(/\.gz$/, '');
}

/** Has the inode of the compressed file: `slack.jsonl.1.2343858.gz.unpacked`. */
function unpackedName(packed: string, inode: string): string {
  return `${packed.slice(0, -PACKED.length)}.${inode}.gz.unpacked`;
}

/** Whether a file is the compressed form of one with this size and beginning. */
export async function isPackedFormOf(
  disk: Disk,
  file: string,
  inode: string,
  {offset, head}: Pick<FinishedFile, 'offset' | 'head'>,
): Promise<boolean> {
  const handle = await openPacked(disk, file, inode);
  if (!handle) return false;
  try {
    return (await sizeOf(handle)) === offset % 2 ** 32 && (await begins(handle, head));
  } finally {
    await handle.close();
  }
}

/** Whether the unpacked text begins as in `head`. */
export async function isPackedBeginning(disk: Disk, file: string, inode: string, head: string): Promise<boolean> {
  const handle = await openPacked(disk, file, inode);
  if (!handle) return false;
  try {
    return await begins(handle, head);
  } finally {
    await handle.close();
  }
}

/** Whether the unpacked text begins as in `head`, which has a length and a digest. */
async function begins(handle: FileHandle, head: string): Promise<boolean> {
  const length = Number.parseInt(head, 10);
  const source = handle.createReadStream({start: 0, autoClose: false});
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

/**
 * Unpack a file and keep its times, which define the order. Returns the name of the unpacked file. Undefined: the file is damaged, or was
 * renamed.
 */
export async function unpack(disk: Disk, file: string, inode: string): Promise<string | undefined> {
  const name = unpackedName(file, inode);
  const target = join(disk.root, 'inbox', name);
  const temporary = temporaryBeside(disk, target);
  const handle = await openPacked(disk, file, inode);
  if (!handle) return undefined;
  try {
    const {atime, mtime} = await handle.stat();
    const source = handle.createReadStream({start: 0, autoClose: false});
    await pipeline(source, createGunzip(), createWriteStream(temporary));
    await utimes(temporary, atime, mtime);
    renameSync(temporary, target);
    return name;
  } catch (error) {
    rmSync(temporary, {force: true});
    // Give up on a damaged file only. After a full disk, a later try may succeed.
    if (`${(error as NodeJS.ErrnoException).code}`.startsWith('Z_')) return undefined;
    throw error;
  } finally {
    await handle.close();
  }
}

/** Remove an unpacked file after reading it. False: not an unpacked file. */
export function removeUnpacked(disk: Disk, file: string): boolean {
  const isUnpacked = UNPACKED.test(file);
  if (isUnpacked) rmSync(join(disk.root, 'inbox', file), {force: true});
  return isUnpacked;
}

/** The inode of the compressed file that this one was unpacked from. Undefined: not an unpacked file. */
export function packedInode(file: string): string | undefined {
  return UNPACKED.exec(file)?.[0].split('.')[1];
}

async function openPacked(disk: Disk, file: string, inode: string): Promise<FileHandle | undefined> {
  const path = join(disk.root, 'inbox', file);
  if (`${statSync(path, {bigint: true, throwIfNoEntry: false})?.ino}` !== inode) return undefined;
  const handle = await open(path).catch(() => undefined);
  if (!handle) return undefined;
  if (`${(await handle.stat({bigint: true})).ino}` === inode) return handle;
  await handle.close();
  return undefined;
}

/** The length of the unpacked text modulo 2^32, from the last bytes of the file. */
async function sizeOf(handle: FileHandle): Promise<number | undefined> {
  const bytes = Buffer.alloc(4);
  const {size} = await handle.stat();
  const {bytesRead} = await handle.read(bytes, 0, 4, Math.max(0, size - 4));
  return bytesRead === 4 ? bytes.readUInt32LE() : undefined;
}
