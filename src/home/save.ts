import {createHash} from 'node:crypto';
import {constants} from 'node:fs';
import {dirname} from 'node:path';
import {crashPoint} from './disk/crash.ts';
import type {Disk, FileStat, OpenFile} from './disk/disk.ts';
import {syncDirectory, writeNewFile} from './disk/durable.ts';
import {waitForLock} from './disk/lock.ts';
import {linkTarget} from './read.ts';
import {linkReplaced, type ReplacedFile} from './replaced-files.ts';
import {temporaryBeside} from './temporary.ts';

/** A write to one file, made only if the file still has the expected content. */
export interface FileWrite {
  path: string;
  /** Undefined: there must be no file. */
  expected: Buffer | undefined;
  bytes: Buffer;
  /** Sync the file: the version log does not have these bytes. */
  durable?: boolean;
}

export type SaveResult =
  /** `replaced`: the old file, which an editor may still have open; see `home/replaced-files.ts`. */
  | {saved: FileStat; replaced: ReplacedFile | undefined}
  /** The file does not have the expected content: read it and decide again. */
  | {changed: true}
  | {failed: Error};

const LOCK_MS = 5_000;

/**
 * Write a file of the home. All writes go through here: lock, write a temporary file beside it, then compare and swap the two without
 * an await. The old file stays linked for a while, so that late writes of an editor are found.
 */
export async function save(disk: Disk, write: FileWrite): Promise<SaveResult> {
  try {
    const lock = await waitForLock(disk, lockPath(write.path), LOCK_MS);
    if ('heldBy' in lock) return {failed: new Error(`process ${lock.heldBy.pid} is writing ${write.path}`)};
    crashPoint('save-lock');
    try {
      return await saveLocked(disk, write);
    } finally {
      crashPoint('save-unlock');
      lock.release();
    }
  } catch (error) {
    return {failed: error as Error};
  }
}

export function lockPath(path: string): string {
  return `.agentdir/locks/${createHash('sha1').update(path).digest('hex').slice(0, 16)}`;
}

async function saveLocked(disk: Disk, {path, expected, bytes, durable = false}: FileWrite): Promise<SaveResult> {
  if (linkTarget(disk, path) !== undefined)
    return {failed: new Error('it is a link, and nothing is written through it')};
  const folder = dirname(path) === '.' ? '' : dirname(path);
  const old = openOld(disk, path, expected);
  if (old === 'changed') return {changed: true};
  const temp = temporaryBeside(disk, path);
  try {
    const before = old === undefined ? undefined : old.stat();
    if (before && (Number(before.mode) & 0o222) === 0)
      return {failed: new Error(`it is read-only; to let the daemon write it: chmod u+w ${path}`)};
    if (!before) disk.makeDirectory(folder);
    await Promise.all([writeNewFile(disk, temp, bytes, {like: before, durable}), disk.prepareSwap()]);
    const saved = replace({disk, path, temp, old, expected, bytes});
    if (!saved) return {changed: true};
    if (durable) await syncDirectory(disk, folder);
    crashPoint('save-check');
    return saved;
  } finally {
    old?.close();
    disk.remove(temp);
  }
}

interface Replacement {
  disk: Disk;
  path: string;
  temp: string;
  old: OpenFile | undefined;
  expected: Buffer | undefined;
  bytes: Buffer;
}

/** Compare, link the old file and swap, without an await. Undefined: the file had changed. */
function replace({
  disk,
  path,
  temp,
  old,
  expected,
  bytes,
}: Replacement): Extract<SaveResult, {saved: unknown}> | undefined {
  if (old === undefined || !expected) {
    // `link` fails if the path exists.
    try {
      disk.link(temp, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
      throw error;
    }
    return {saved: statOf(disk, path), replaced: undefined};
  }
  if (!sameBytes(old, expected)) return undefined;
  const {ino} = old.stat();
  const own = statOf(disk, temp);
  let replaced: ReplacedFile | undefined;
  let isDone = false;
  try {
    replaced = linkReplaced({disk, path, target: path, temp, expected, bytes});
    crashPoint('save-keep');
    isDone =
      (replaced === undefined || replaced.inode === ino) && takePlace(disk, temp, path, {compared: ino, own: own.ino});
  } catch (error) {
    // Somebody removed the file.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    if (!isDone) replaced?.forget();
  }
  if (!isDone) return undefined;
  const now = disk.lstat(path);
  return {saved: now?.ino === own.ino ? now : own, replaced};
}

/** How often to swap back if other processes keep replacing the file. */
const MOST_OTHERS = 100;

/**
 * Put `temp` in place of the compared file. False: another file was there, and was put back. The link of the old file reveals late
 * writes into it.
 */
function takePlace(
  disk: Disk,
  temp: string,
  target: string,
  {compared, own}: {compared: bigint; own: bigint},
): boolean {
  const inodeOf = (path: string) => disk.lstat(path)?.ino;
  if (inodeOf(target) !== compared) return false;
  if (!disk.swap(temp, target)) disk.rename(temp, target);
  crashPoint('save-rename');
  let displaced = inodeOf(temp);
  if (displaced === compared) disk.unlink(temp);
  if (displaced === undefined || displaced === compared) return true;
  // Another process renamed its file there after the comparison: put it back, unless a still newer one is there by now.
  for (let put: bigint | undefined = own, n = 0; n < MOST_OTHERS; n++) {
    if (!disk.swap(temp, target)) disk.rename(temp, target);
    const out = inodeOf(temp);
    if (out === undefined || out === put) break;
    [put, displaced] = [displaced, out];
  }
  return false;
}

/** The `lstat` of an existing file. Throws ENOENT if it is gone. */
function statOf(disk: Disk, path: string): FileStat {
  const stat = disk.lstat(path);
  if (!stat) throw Object.assign(new Error(`${path} no longer exists`), {code: 'ENOENT'});
  return stat;
}

/** Open the file if its size is as expected. Undefined: there is no file, as expected. */
function openOld(disk: Disk, path: string, expected: Buffer | undefined): OpenFile | undefined | 'changed' {
  let old: OpenFile;
  try {
    old = disk.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return expected === undefined ? undefined : 'changed';
  }
  if (Number(old.stat().size) === expected?.length) return old;
  old.close();
  return 'changed';
}

function sameBytes(file: OpenFile, expected: Buffer): boolean {
  const size = Number(file.stat().size);
  if (size !== expected.length) return false;
  const buffer = Buffer.allocUnsafe(size);
  for (let length = 0; length < size; ) {
    const got = file.read(buffer, length, size - length, length);
    if (got === 0) return false;
    length += got;
  }
  return buffer.equals(expected);
}
