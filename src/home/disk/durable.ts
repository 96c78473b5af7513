import {constants} from 'node:fs';
import {crashPoint} from './crash.ts';
import type {Disk, FileStat, OpenFile} from './disk.ts';

/** A new file with these bytes, with mode and owner of another. `durable`: it is on the disk when this resolves. */
export async function writeNewFile(
  disk: Disk,
  path: string,
  bytes: Buffer,
  {like, durable: isDurable}: {like: FileStat | undefined; durable: boolean},
): Promise<void> {
  const file = disk.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
  try {
    for (let at = 0; at < bytes.length; ) at += file.write(bytes, at);
    crashPoint('save-temp');
    if (like) {
      const own = file.stat();
      if (own.mode !== like.mode) file.chmod(Number(like.mode) & 0o7777);
      if (own.uid !== like.uid || own.gid !== like.gid) ownAs(file, like);
    }
    if (isDurable) await durable(file.sync());
    crashPoint('save-fsync');
  } finally {
    file.close();
  }
}

function ownAs(file: OpenFile, like: FileStat): void {
  try {
    file.chown(Number(like.uid), Number(like.gid));
  } catch {
    // Only root can give a file away; the content is what counts.
  }
}

interface Syncing {
  now: Promise<void>;
  next: Promise<void> | undefined;
}

/** Directories that are being synced, and what comes after, for each disk. */
const syncing = new WeakMap<Disk, Map<string, Syncing>>();

/** Many saves in one directory share a sync: one that began after them is theirs too. */
export function syncDirectory(disk: Disk, path: string): Promise<void> {
  const directories = syncing.get(disk) ?? new Map<string, Syncing>();
  syncing.set(disk, directories);
  const running = directories.get(path);
  const forget = () => directories.delete(path);
  if (!running) {
    const now = durable(disk.syncDirectory(path));
    directories.set(path, {now, next: undefined});
    now.then(forget, forget);
    return now;
  }
  const again = () => {
    forget();
    return syncDirectory(disk, path);
  };
  running.next ??= running.now.then(again, again);
  return running.next;
}

/** The disk did not take what was written. Nobody knows what is on it now, so nothing more may be built on it. */
class NotDurable extends Error {
  override readonly name = 'NotDurable';
}

/** Wait for a sync: only this waits for the disk, everything else goes to the page cache. Rejects with `NotDurable` if the disk fails. */
export async function durable(sync: Promise<void>): Promise<void> {
  try {
    await sync;
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    // Some file systems cannot sync a directory; that is no fault of the disk.
    if (code === 'EINVAL' || code === 'ENOTSUP') return;
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'ENOENT') throw error;
    throw new NotDurable(`the disk reports ${code} on fsync`, {cause: error});
  }
}
