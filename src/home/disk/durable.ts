import {constants} from 'node:fs';
import {crashPoint} from './crash.ts';
import type {Disk, FileStat, OpenFile} from './disk.ts';

/** Create a file with the mode and owner of `like`. `durable`: sync it before resolving. */
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
      const stat = file.stat();
      if (stat.mode !== like.mode) file.chmod(Number(like.mode) & 0o7777);
      if (stat.uid !== like.uid || stat.gid !== like.gid) ownAs(file, like);
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
    // Only root can change the owner; the content matters more.
  }
}

interface Syncing {
  now: Promise<void>;
  next: Promise<void> | undefined;
}

/** Running and next syncs by directory, for each disk. */
const syncing = new WeakMap<Disk, Map<string, Syncing>>();

/** Sync a directory. Concurrent calls share the next sync that starts after them. */
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

/** The disk failed to sync. Its content is unknown now, so the daemon must stop. */
class NotDurable extends Error {
  override readonly name = 'NotDurable';
}

/** Wait for a sync. Rejects with `NotDurable` if the disk fails. */
export async function durable(sync: Promise<void>): Promise<void> {
  try {
    await sync;
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    // Some file systems cannot sync a directory; the disk is not broken.
    if (code === 'EINVAL' || code === 'ENOTSUP') return;
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'ENOENT') throw error;
    throw new NotDurable(`the disk reports ${code} on fsync`, {cause: error});
  }
}
