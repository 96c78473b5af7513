import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  type fdatasync,
  fstatSync,
  fsync,
  openSync,
  writeSync,
} from 'node:fs';
import {crashPoint} from './crash.ts';

/** A new file with these bytes, with mode and owner of another. `durable`: it is on the disk when this resolves. */
export async function writeNewFile(
  path: string,
  bytes: Buffer,
  {like, durable: isDurable}: {like: {mode: number; uid: number; gid: number} | undefined; durable: boolean},
): Promise<void> {
  const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    crashPoint('save-temp');
    if (like) {
      const own = fstatSync(fd);
      if (own.mode !== like.mode) fchmodSync(fd, like.mode & 0o7777);
      if (own.uid !== like.uid || own.gid !== like.gid) ownAs(fd, like);
    }
    if (isDurable) await durable(fd);
    crashPoint('save-fsync');
  } finally {
    closeSync(fd);
  }
}

function ownAs(fd: number, like: {uid: number; gid: number}): void {
  try {
    fchownSync(fd, like.uid, like.gid);
  } catch {
    // Only root can give a file away; the content is what counts.
  }
}

/** Directories that are being synced, and what comes after. */
const syncing = new Map<string, {now: Promise<void>; next: Promise<void> | undefined}>();

/** Many saves in one directory share a sync: one that began after them is theirs too. */
export function syncDirectory(path: string): Promise<void> {
  const running = syncing.get(path);
  if (!running) {
    const now = syncNow(path);
    syncing.set(path, {now, next: undefined});
    const done = () => syncing.delete(path);
    now.then(done, done);
    return now;
  }
  const again = () => {
    syncing.delete(path);
    return syncDirectory(path);
  };
  running.next ??= running.now.then(again, again);
  return running.next;
}

async function syncNow(path: string): Promise<void> {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    await durable(fd);
  } finally {
    closeSync(fd);
  }
}

/** The disk did not take what was written. Nobody knows what is on it now, so nothing more may be built on it. */
class NotDurable extends Error {
  override readonly name = 'NotDurable';
}

/** Wait until the disk has what was written to a file; everything else goes to the page cache. */
export async function durable(fd: number, sync: typeof fsync | typeof fdatasync = fsync): Promise<void> {
  const error = await new Promise<NodeJS.ErrnoException | null>(resolve => sync(fd, resolve));
  if (!error) return;
  const {code} = error;
  // Some file systems cannot sync a directory; that is no fault of the disk.
  if (code === 'EINVAL' || code === 'ENOTSUP') return;
  if (code === 'ENOSPC' || code === 'EDQUOT') throw error;
  throw new NotDurable(`the disk reports ${code} on fsync`, {cause: error});
}
