import {type Cursor, cursorText, isUnread, type Position} from '../../formats/cursor-file.ts';
import type {Disk} from '../../home/disk/disk.ts';
import {openNumbered} from '../../home/inbox-files.ts';
import {unpackRotated} from '../../home/unpack-inbox.ts';
import type {InboxReading} from '../state/inboxes.ts';
import {findCopy} from './inbox-follow.ts';

/** Open a rotated file under its current name. In a copied home, or after compression, its inode differs. */
export async function openRotatedFile(
  disk: Disk,
  {name}: InboxReading,
  at: Position,
): Promise<ReturnType<typeof openNumbered>> {
  const found = openNumbered(disk, at.inode);
  if (found) return found;
  const inode = findCopy(disk, name, at) ?? (await unpackRotated(disk, name, at));
  if (inode === undefined) return undefined;
  at.inode = inode;
  return openNumbered(disk, inode);
}

/** Whether the other inbox continues this file and has saved that. */
export function isTakenOver(other: InboxReading | undefined, {inode}: Position): boolean {
  return other?.cursor?.inode === inode && isCursorSaved(other);
}

/** Drop a fully read file. While no file has the name, the last one is kept: files newer than it were missed. */
export function finishRotated(reading: InboxReading, at: Position, isWorthAWrite: boolean): void {
  const {inode = '', rotated = []} = reading.cursor ?? {};
  if (inode === '' && rotated.at(-1)?.inode === at.inode) reading.finishedFile = at.inode;
  else dropRotated(reading, at, isWorthAWrite);
}

/** Whether rotated files may still get lines. */
export function hasRotatedToRead({cursor, finishedFile}: InboxReading): boolean {
  return (cursor?.rotated ?? []).some(({inode}) => inode !== finishedFile);
}

export function dropRotated(reading: InboxReading, {inode}: Position, isWorthAWrite = false): void {
  const {rotated = [], ...cursor} = reading.cursor as Cursor;
  const remaining = rotated.filter(each => each.inode !== inode);
  const wasSaved = isCursorSaved(reading);
  reading.cursor = {...cursor, ...(remaining.length > 0 && {rotated: remaining})};
  if (wasSaved && !isWorthAWrite) reading.saved = cursorText(reading.cursor);
}

export function isCursorSaved({cursor, saved}: InboxReading): boolean {
  return !cursor || (saved === '' && isUnread(cursor)) || cursorText(cursor) === saved;
}
