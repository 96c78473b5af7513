import {closeSync, constants, fstatSync, fsync, mkdirSync, openSync, readSync, writeSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {crashPoint} from './crash.ts';
import {waitForLock} from './lock.ts';
import {linkTarget} from './read.ts';
import {lockPath} from './save.ts';

const LOCK_MS = 5_000;
/** Somebody who writes a line without a lock, as `echo` does, is done with it long before. */
const HALF_MS = 500;
const PAUSE_MS = 20;
const NEWLINE = 10;
const MOST_TRIES = 5;

/**
 * Append lines, each with its newline, to a file of `inbox/`: in one write, durable when this is over. What somebody
 * left there without a newline becomes a line of its own, so that neither it nor ours is read as part of the other.
 * Throws if it could not be written, or nobody knows whether it was.
 */
export async function appendLines(home: string, path: string, lines: string): Promise<void> {
  const lock = await waitForLock(lockPath(home, path), LOCK_MS);
  if ('heldBy' in lock) throw new Error(`process ${lock.heldBy.pid} is writing ${path}`);
  try {
    // An editor that saved just then has replaced the file: what went into the old one is gone.
    for (let tries = 0; !(await wasAppended(home, path, lines)); tries++)
      if (tries === MOST_TRIES) throw new Error(`${path} is replaced again and again`);
  } finally {
    lock.release();
  }
}

async function wasAppended(home: string, path: string, lines: string): Promise<boolean> {
  if (linkTarget(home, path) !== undefined) throw new Error(`${path} is a link, and nothing is written through it`);
  const target = join(home, path);
  if (mkdirSync(dirname(target), {recursive: true}) !== undefined) await syncFolder(home);
  const {O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK} = constants;
  const fd = openSync(target, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o644);
  try {
    if (!fstatSync(fd).isFile()) throw new Error(`${path} is not a file`);
    const isNew = fstatSync(fd).size === 0;
    const torn = await endsTorn(fd);
    const bytes = Buffer.from(`${torn ? '\n' : ''}${lines}`);
    crashPoint('inbox-append');
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    await synced(fd);
    if (isNew) await syncFolder(dirname(target));
    crashPoint('inbox-appended');
    // One that was only moved is read to its end.
    return fstatSync(fd).nlink > 0;
  } finally {
    closeSync(fd);
  }
}

/**
 * Make durable what stands in a file of `inbox/`, whoever wrote it: one who was killed before its fsync, or whose fsync
 * failed. Throws if the disk does not take it.
 */
export async function syncLines(home: string, path: string): Promise<void> {
  let fd: number;
  try {
    fd = openSync(join(home, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    await synced(fd);
    await syncFolder(dirname(join(home, path)));
  } finally {
    closeSync(fd);
  }
}

/** Whether the last line has no end, and gets none. */
async function endsTorn(fd: number): Promise<boolean> {
  for (const end = performance.now() + HALF_MS; ; ) {
    const {size} = fstatSync(fd);
    const last = Buffer.alloc(1);
    if (size === 0 || (readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === NEWLINE)) return false;
    if (performance.now() > end) return true;
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
  }
}

function synced(fd: number): Promise<void> {
  return new Promise((resolve, reject) => fsync(fd, error => (error ? reject(error) : resolve())));
}

async function syncFolder(path: string): Promise<void> {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    await synced(fd);
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    // Some file systems cannot sync a directory; that is no fault of the disk.
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error;
  } finally {
    closeSync(fd);
  }
}
