import {createHash} from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {crashPoint} from './crash.ts';
import {syncDirectory, writeNewFile} from './durable.ts';
import {waitForLock} from './lock.ts';
import {linkTarget} from './read.ts';
import {keepReplaced, type Replaced} from './replaced.ts';
import {loadSwap, swapFiles} from './swap.ts';
import {temporaryBeside} from './temporary.ts';

/** What to put where, and the bytes the decision was made on: undefined if there was no file. */
export interface Write {
  path: string;
  expected: Buffer | undefined;
  bytes: Buffer;
  /** No version log has the bytes: they must survive a power cut by themselves. */
  durable?: boolean;
}

export type SaveResult =
  /** `replaced`: the old file, which an editor may still have open; see `store/replaced.ts`. */
  | {saved: BigIntStats; replaced: Replaced | undefined}
  /** The file is no longer what the decision was made on: decide again. */
  | {changed: true}
  | {failed: Error};

const LOCK_MS = 5_000;

/**
 * The one way by which a file of the home is written: lock, write a temporary file beside it, then compare and let the two
 * change places with nothing in between. The old file stays linked for a while, so that bytes an editor wrote into it at the
 * last moment are found.
 */
export async function save(home: string, write: Write): Promise<SaveResult> {
  try {
    const lock = await waitForLock(lockPath(home, write.path), LOCK_MS);
    if ('heldBy' in lock) return {failed: new Error(`process ${lock.heldBy.pid} is writing ${write.path}`)};
    crashPoint('save-lock');
    try {
      return await saveLocked(home, write);
    } finally {
      crashPoint('save-unlock');
      lock.release();
    }
  } catch (error) {
    return {failed: error as Error};
  }
}

export function lockPath(home: string, path: string): string {
  return join(home, '.agentdir/locks', createHash('sha1').update(path).digest('hex').slice(0, 16));
}

async function saveLocked(home: string, {path, expected, bytes, durable = false}: Write): Promise<SaveResult> {
  const target = join(home, path);
  if (linkTarget(home, path) !== undefined)
    return {failed: new Error(`${path} is a link, and nothing is written through it`)};
  const old = openOld(target, expected);
  if (old === 'changed') return {changed: true};
  const temp = temporaryBeside(target);
  try {
    const before = old === undefined ? undefined : fstatSync(old);
    if (before && (before.mode & 0o222) === 0)
      return {failed: new Error(`${path} is read-only; to let the daemon write it: chmod u+w ${path}`)};
    if (!before) mkdirSync(dirname(target), {recursive: true});
    await Promise.all([writeNewFile(temp, bytes, {like: before, durable}), loadSwap()]);
    const saved = replace({home, path, target, temp, old, expected, bytes});
    if (!saved) return {changed: true};
    if (durable) await syncDirectory(dirname(target));
    crashPoint('save-check');
    return saved;
  } finally {
    if (old !== undefined) closeSync(old);
    rmSync(temp, {force: true});
  }
}

interface Replacement {
  home: string;
  path: string;
  target: string;
  temp: string;
  old: number | undefined;
  expected: Buffer | undefined;
  bytes: Buffer;
}

/** Compare, keep the old file by a link, take its place: no await in between. Undefined: it had changed. */
function replace({
  home,
  path,
  target,
  temp,
  old,
  expected,
  bytes,
}: Replacement): Extract<SaveResult, {saved: unknown}> | undefined {
  if (old === undefined || !expected) {
    // A link is made only where nothing is yet.
    try {
      linkSync(temp, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
      throw error;
    }
    return {saved: statSync(target, {bigint: true}), replaced: undefined};
  }
  if (!sameBytes(old, expected)) return undefined;
  const {ino} = fstatSync(old, {bigint: true});
  const own = lstatSync(temp, {bigint: true});
  let replaced: Replaced | undefined;
  let isDone = false;
  try {
    replaced = keepReplaced({home, path, target, temp, expected, bytes});
    crashPoint('save-keep');
    isDone =
      (replaced === undefined || replaced.inode === ino) && takePlace(temp, target, {compared: ino, own: own.ino});
  } catch (error) {
    // Removed by somebody who wants it gone.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    if (!isDone) replaced?.forget();
  }
  if (!isDone) return undefined;
  const now = lstatSync(target, {bigint: true, throwIfNoEntry: false});
  return {saved: now?.ino === own.ino ? now : own, replaced};
}

/** So many files that others put in place one after the other, each within a few microseconds. */
const MOST_OTHERS = 100;

/**
 * `temp` in place of the file that was compared. False: another one was there, and is again. What is written into the old file
 * meanwhile is found by its link.
 */
function takePlace(temp: string, target: string, {compared, own}: {compared: bigint; own: bigint}): boolean {
  if (inodeOf(target) !== compared) return false;
  if (!swapFiles(temp, target)) renameSync(temp, target);
  crashPoint('save-rename');
  let came = inodeOf(temp);
  if (came === compared) unlinkSync(temp);
  if (came === undefined || came === compared) return true;
  // Renamed there since it was looked at: back with it, unless yet another came meanwhile, which is then the newest.
  for (let put: bigint | undefined = own, n = 0; n < MOST_OTHERS; n++) {
    if (!swapFiles(temp, target)) renameSync(temp, target);
    const out = inodeOf(temp);
    if (out === undefined || out === put) break;
    [put, came] = [came, out];
  }
  return false;
}

/** Not of what a link leads to. */
function inodeOf(path: string): bigint | undefined {
  return lstatSync(path, {bigint: true, throwIfNoEntry: false})?.ino;
}

/** The file, open, if it is what is expected as far as its size tells; undefined if there is none and none should be. */
function openOld(target: string, expected: Buffer | undefined): number | undefined | 'changed' {
  let old: number;
  try {
    old = openSync(target, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return expected === undefined ? undefined : 'changed';
  }
  if (fstatSync(old).size === expected?.length) return old;
  closeSync(old);
  return 'changed';
}

function sameBytes(fd: number, expected: Buffer): boolean {
  const {size} = fstatSync(fd);
  if (size !== expected.length) return false;
  const buffer = Buffer.allocUnsafe(size);
  for (let length = 0; length < size; ) {
    const got = readSync(fd, buffer, length, size - length, length);
    if (got === 0) return false;
    length += got;
  }
  return buffer.equals(expected);
}
