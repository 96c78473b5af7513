import type {Disk, FileStat} from './disk/disk.ts';
import {closeInbox, type OpenInbox, openInbox} from './inbox-lines.ts';

/** How often to retry while other processes rename files. */
const MOST_TRIES = 20;

/** Files in inbox/ by name. Empty if there is no such folder. */
export function listInbox(disk: Disk): Map<string, FileStat> {
  const found = new Map<string, FileStat>();
  if (!disk.stat('inbox')?.isDirectory()) return found;
  for (const entry of disk.list('inbox')) {
    if (!entry.isFile()) continue;
    const stat = disk.stat(`inbox/${entry.name}`);
    if (stat) found.set(entry.name, stat);
  }
  return found;
}

/** Like `listInbox`, but consistent while files are renamed: repeats until two listings agree. */
export function inboxFiles(disk: Disk): Map<string, FileStat> {
  let files = listInbox(disk);
  for (let n = 0; n < MOST_TRIES; n++) {
    const again = listInbox(disk);
    if (again.size === files.size && [...again].every(([name, {ino}]) => files.get(name)?.ino === ino)) break;
    files = again;
  }
  return files;
}

/**
 * Open the inbox file with this inode and return its current name. Retries if the file is renamed meanwhile. Undefined: no such file.
 * `lastName`: tried first.
 */
export function openNumbered(
  disk: Disk,
  inode: string,
  lastName?: string,
): {name: string; file: OpenInbox} | undefined {
  for (let n = 0, name = lastName; n < MOST_TRIES; n++, name = undefined) {
    name ??= [...inboxFiles(disk)].find(([, {ino}]) => `${ino}` === inode)?.[0];
    if (name === undefined) return undefined;
    const file = openInbox(disk, `inbox/${name}`);
    if (file?.inode === inode) return {name, file};
    if (file) closeInbox(file);
  }
  return undefined;
}
