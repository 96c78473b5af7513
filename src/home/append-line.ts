import {constants} from 'node:fs';
import {dirname} from 'node:path';
import {crashPoint} from './disk/crash.ts';
import type {Disk, OpenFile} from './disk/disk.ts';
import {waitForLock} from './disk/lock.ts';
import {linkTarget} from './read.ts';
import {lockPath} from './save.ts';

const LOCK_MS = 5_000;
/** How long to wait for the newline of a writer without a lock, such as `echo`. */
const HALF_MS = 500;
const PAUSE_MS = 20;
const NEWLINE = 10;
const MOST_TRIES = 5;

/**
 * Append lines, each with its newline, to a file of `inbox/` in one write. Durable when it resolves. If the file ends without a newline,
 * that line is ended first. Rejects if the lines were not written, or if that is uncertain.
 */
export async function appendLines(disk: Disk, path: string, lines: string): Promise<void> {
  const lock = await waitForLock(disk, lockPath(path), LOCK_MS);
  if ('heldBy' in lock) throw new Error(`process ${lock.heldBy.pid} is writing ${path}`);
  try {
    // If an editor replaced the file meanwhile, the lines went into the old file: append again.
    for (let tries = 0; !(await wasAppended(disk, path, lines)); tries++)
      if (tries === MOST_TRIES) throw new Error(`${path} keeps being replaced`);
  } finally {
    lock.release();
  }
}

async function wasAppended(disk: Disk, path: string, lines: string): Promise<boolean> {
  if (linkTarget(disk, path) !== undefined) throw new Error(`${path} is a link, and nothing is written through it`);
  if (disk.makeDirectory(dirname(path))) await syncFolder(disk, '');
  const {O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK} = constants;
  const file = disk.open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o644);
  try {
    const before = file.stat();
    if (!before.isFile()) throw new Error(`${path} is not a file`);
    const isNew = before.size === 0n;
    const torn = await endsTorn(disk, file);
    const bytes = Buffer.from(`${torn ? '\n' : ''}${lines}`);
    crashPoint('inbox-append');
    for (let at = 0; at < bytes.length; ) at += file.write(bytes, at);
    await file.sync();
    if (isNew) await syncFolder(disk, dirname(path));
    crashPoint('inbox-appended');
    // A file that was only renamed is still read to its end.
    return file.stat().nlink > 0n;
  } finally {
    file.close();
  }
}

/**
 * Sync a file of `inbox/`, because its last writer may have been killed before its fsync, or its fsync may have failed. Rejects if the
 * sync fails.
 */
export async function syncLines(disk: Disk, path: string): Promise<void> {
  let file: OpenFile;
  try {
    file = disk.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    await file.sync();
    await syncFolder(disk, dirname(path));
  } finally {
    file.close();
  }
}

/** Whether the last line has no newline, and gets none within `HALF_MS`. */
async function endsTorn({clock}: Disk, file: OpenFile): Promise<boolean> {
  for (const end = clock.monotonic() + HALF_MS; ; ) {
    const size = Number(file.stat().size);
    const last = Buffer.alloc(1);
    if (size === 0 || (file.read(last, 0, 1, size - 1) === 1 && last[0] === NEWLINE)) return false;
    if (clock.monotonic() > end) return true;
    await clock.pause(PAUSE_MS);
  }
}

async function syncFolder(disk: Disk, path: string): Promise<void> {
  try {
    await disk.syncDirectory(path);
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    // Some file systems cannot sync a directory; the disk is not broken.
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error;
  }
}
