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

/** What to put where, and the bytes the decision was made on: undefined if there was no file. */
export interface FileWrite {
  path: string;
  expected: Buffer | undefined;
  bytes: Buffer;
  /** No version log has the bytes: they must survive a power cut by themselves. */
  durable?: boolean;
}

export type SaveResult =
  /** `replaced`: the old file, which an editor may still have open; see `home/replaced-files.ts`. */
  | {saved: FileStat; replaced: ReplacedFile | undefined}
  /** The file is no longer what the decision was made on: decide again. */
  | {changed: true}
  | {failed: Error};

const LOCK_MS = 5_000;

/**
 * The one way by which a file of the home is written: lock, write a temporary file beside it, then compare and let the two
 * change places with nothing in between. The old file stays linked for a while, so that bytes an editor wrote into it at the
 * last moment are found.
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
    return {failed: new Error(`${path} is a link, and nothing is written through it`)};
  const folder = dirname(path) === '.' ? '' : dirname(path);
  const old = openOld(disk, path, expected);
  if (old === 'changed') return {changed: true};
  const temp = temporaryBeside(disk, path);
  try {
    const before = old === undefined ? undefined : old.stat();
    if (before && (Number(before.mode) & 0o222) === 0)
      return {failed: new Error(`${path} is read-only; to let the daemon write it: chmod u+w ${path}`)};
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

/** Compare, keep the old file by a link, take its place: no await in between. Undefined: it had changed. */
function replace({
  disk,
  path,
  temp,
  old,
  expected,
  bytes,
}: Replacement): Extract<SaveResult, {saved: unknown}> | undefined {
  if (old === undefined || !expected) {
    // A link is made only where nothing is yet.
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
    // Removed by somebody who wants it gone.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    if (!isDone) replaced?.forget();
  }
  if (!isDone) return undefined;
  const now = disk.lstat(path);
  return {saved: now?.ino === own.ino ? now : own, replaced};
}

/** So many files that others put in place one after the other, each within a few microseconds. */
const MOST_OTHERS = 100;

/**
 * `temp` in place of the file that was compared. False: another one was there, and is again. What is written into the old file
 * meanwhile is found by its link.
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
  let came = inodeOf(temp);
  if (came === compared) disk.unlink(temp);
  if (came === undefined || came === compared) return true;
  // Renamed there since it was looked at: back with it, unless yet another came meanwhile, which is then the newest.
  for (let put: bigint | undefined = own, n = 0; n < MOST_OTHERS; n++) {
    if (!disk.swap(temp, target)) disk.rename(temp, target);
    const out = inodeOf(temp);
    if (out === undefined || out === put) break;
    [put, came] = [came, out];
  }
  return false;
}

/** Of a file that is there. Not of what a link leads to. */
function statOf(disk: Disk, path: string): FileStat {
  const stat = disk.lstat(path);
  if (!stat) throw Object.assign(new Error(`${path} is not there any more`), {code: 'ENOENT'});
  return stat;
}

/** The file, open, if it is what is expected as far as its size tells; undefined if there is none and none should be. */
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
