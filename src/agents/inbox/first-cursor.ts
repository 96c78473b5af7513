import {type Cursor, type FinishedFile, newCursor, type Position} from '../../formats/cursor-file.ts';
import type {OpenInbox} from '../../home/inbox-lines.ts';
import type {InboxReading} from '../state/inboxes.ts';
import type {With} from '../state/parts.ts';
import {deliveredUpTo, placesDelivered} from './lines-found.ts';
import {compareFiles, finishedFile, isFromServedTime, unreadPosition, withFile} from './rotated-files.ts';

/**
 * The cursor of an inbox that has no cursor file. Rotated files that were made while the home was served are read first; older ones are logs
 * that nobody asked to read. If lines were delivered before, because the cursor file was deleted, reading continues where they end.
 */
export async function firstCursor(
  {files, inboxes}: With<'files' | 'inboxes'>,
  {name}: InboxReading,
  open?: OpenInbox,
): Promise<Cursor> {
  const {disk} = files;
  const {fresh} = await compareFiles(disk, name, newCursor(), open, false);
  const isOld = open !== undefined && open.size > 0 && Number(open.stat.birthtimeMs) < disk.clock.origin;
  const places = fresh.length > 0 || isOld ? await placesDelivered(disk, name) : new Map<number, Set<string>>();
  let generation = Math.max(0, ...places.keys());
  const isLost = generation > 0;
  const rotated: Position[] = [];
  const finished: FinishedFile[] = [];
  for (const file of fresh) {
    const delivered = isLost ? await withFile(disk, file, undefined, each => deliveredUpTo(each, places)) : undefined;
    if (delivered) {
      rotated.push(delivered.position);
      places.delete(delivered.position.generation);
    } else if (isLost ? rotated.length > 0 : isFromServedTime(inboxes, file))
      rotated.push(await unreadPosition(disk, file, ++generation));
    else finished.push(...[(await finishedFile(disk, file)) ?? []].flat());
  }
  const known = {...(rotated.length > 0 && {rotated}), finished};
  const current = open && isLost ? await deliveredUpTo(open, places) : undefined;
  if (current?.isWhole) return {...current.position, since: current.position.generation, ...known};
  // The generations of `places` are those of earlier files, or of this one before an editor rewrote it.
  const since = Math.max(0, ...rotated.map(at => at.generation)) + 1;
  return {...newCursor(rotated.length > 0 ? generation + 1 : 1), since, ...known};
}
