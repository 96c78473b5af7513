import {isLeftover} from '../../formats/common/key.ts';
import {type Cursor, cursorText, type FinishedFile, isUnread, type Position} from '../../formats/cursor-file.ts';
import type {Disk} from '../../home/disk/disk.ts';
import {openNumbered} from '../../home/inbox-files.ts';
import {closeInbox, isContinued, isIdentified} from '../../home/inbox-lines.ts';
import type {InboxReading} from '../state/inboxes.ts';
import {contentAfter, possibleCopies} from './rotated-files.ts';

/** Open a rotated file under its current name. In a copied home, or after compression, its inode differs. */
export async function openRotatedFile(
  disk: Disk,
  {name}: InboxReading,
  at: Position,
): Promise<ReturnType<typeof openNumbered>> {
  const found = openNumbered(disk, at.inode);
  if (found && isContinued(found.file, at)) return found;
  if (found) closeInbox(found.file);
  if (!isIdentified(at)) return undefined;
  for (const copy of possibleCopies(disk, name)) {
    const file = isLeftover(copy.name) ? undefined : await contentAfter(disk, copy, at);
    if (file === 'read') return undefined;
    if (!file) continue;
    at.inode = file.inode;
    return openNumbered(disk, file.inode, file.name);
  }
  return undefined;
}

/** Whether the other inbox continues this file and has saved that. */
export function isTakenOver(other: InboxReading | undefined, {inode}: Position): boolean {
  return other?.cursor?.inode === inode && isCursorSaved(other);
}

/** Whether rotated files may still get lines. */
export function hasRotatedToRead({cursor}: InboxReading): boolean {
  return (cursor?.rotated?.length ?? 0) > 0;
}

/** Drop a rotated file that is read to its end, or gone. Not worth a write by itself: the next daemon would find the same. */
export function dropRotated(reading: InboxReading, {generation}: Position, finished?: FinishedFile): void {
  const {rotated = [], ...cursor} = reading.cursor as Cursor;
  const remaining = rotated.filter(each => each.generation !== generation);
  const wasSaved = isCursorSaved(reading);
  reading.cursor = {
    ...cursor,
    ...(remaining.length > 0 && {rotated: remaining}),
    finished: [...(cursor.finished ?? []), ...(finished ? [finished] : [])],
  };
  if (wasSaved) reading.saved = cursorText(reading.cursor);
}

export function isCursorSaved({cursor, saved}: InboxReading): boolean {
  return !cursor || (saved === '' && isUnread(cursor)) || cursorText(cursor) === saved;
}
