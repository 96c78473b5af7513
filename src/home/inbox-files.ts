import type {Disk, FileStat} from './disk/disk.ts';
import {closeInbox, type OpenInbox, openInbox} from './inbox-lines.ts';

/** While others rename without a pause. */
const MOST_TRIES = 20;

/** Files in inbox/ by name; none where there is no such folder. */
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

/** The same while they are being renamed: one look may then miss a file or find it twice, so it is taken until two say the same. */
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
 * The file of this number, open, and the name it has; another may have that name by the time it is opened. Undefined: it is not there.
 * `had`: the name it had a moment ago.
 */
export function openNumbered(disk: Disk, inode: string, had?: string): {name: string; file: OpenInbox} | undefined {
  for (let n = 0, name = had; n < MOST_TRIES; n++, name = undefined) {
    name ??= [...inboxFiles(disk)].find(([, {ino}]) => `${ino}` === inode)?.[0];
    if (name === undefined) return undefined;
    const file = openInbox(disk, `inbox/${name}`);
    if (file?.inode === inode) return {name, file};
    if (file) closeInbox(file);
  }
  return undefined;
}
