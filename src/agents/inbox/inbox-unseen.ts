import {type Cursor, newCursor, type Position, positionOf} from '../../formats/cursor-file.ts';
import type {Disk} from '../../home/disk/disk.ts';
import {openNumbered} from '../../home/inbox-files.ts';
import {closeInbox, type OpenInbox} from '../../home/inbox-lines.ts';
import type {InboxReading} from '../state/inboxes.ts';
import {MAX_REMEMBERED_LINES} from '../state/lines-read.ts';
import type {With} from '../state/parts.ts';
import {hasLines, missedFiles, type NumberedFile} from './inbox-missed.ts';
import {deliveredUpTo, linesOf, placesDelivered} from './lines-found.ts';

/** How many renamed files are followed. */
export const MAX_ROTATED = 20;

/**
 * For an inbox without cursor: find files that had its name and were renamed before the first look. Copies of the current
 * file do not count. If lines were delivered before, by a killed daemon or with a lost cursor, only the files they came
 * from and later files count.
 */
export async function findUnseen(
  daemon: With<'files' | 'inboxes'>,
  reading: InboxReading,
  file?: OpenInbox,
): Promise<void> {
  const {files} = daemon;
  const {disk} = files;
  const {name} = reading;
  const missed = await missedFiles(daemon, name, [], file);
  if (missed.length === 0) return;
  const own = file && (await linesOf(file, file.size, MAX_REMEMBERED_LINES));
  const places = await placesDelivered(disk, name);
  const all = new Set([...places.values()].flatMap(each => [...each].map(place => place.split(':')[1])));
  const rotated: Position[] = [];
  for (const one of missed) {
    const generation = (rotated.at(-1)?.generation ?? 0) + 1;
    const has = (lines: {has: (hash: string) => boolean}) => hasLines(disk, one, hash => lines.has(hash));
    if (own && (await has(own))) continue;
    const at = await positionIn(disk, one, places, generation);
    if (at) rotated.push(at);
    else if (!(await has(all)) && (all.size === 0 || rotated.length > 0))
      rotated.push(positionOf({...newCursor(generation), inode: one.inode}));
  }
  const last = rotated.slice(-MAX_ROTATED);
  const next = (last.at(-1)?.generation ?? 0) + 1;
  if (last.length > 0) reading.cursor = {...newCursor(next), rotated: last};
}

async function positionIn(
  disk: Disk,
  {inode, file: name}: NumberedFile,
  places: Awaited<ReturnType<typeof placesDelivered>>,
  generation: number,
): Promise<Position | undefined> {
  const {file} = openNumbered(disk, inode, name) ?? {};
  if (!file) return undefined;
  try {
    return await deliveredUpTo(file, places, generation);
  } finally {
    closeInbox(file);
  }
}

/** For an inbox whose file was missing at the last look: find files that had the name and were renamed since. */
export async function findMissed(
  daemon: With<'files' | 'inboxes'>,
  reading: InboxReading,
  cursor: Cursor,
  file?: OpenInbox,
): Promise<void> {
  const {rotated = []} = cursor;
  const missed = rotated.length === 0 ? [] : await missedFiles(daemon, reading.name, rotated, file);
  if (missed.length === 0) return;
  const found = missed.map(({inode}, n) => positionOf({...newCursor(cursor.generation + n), inode}));
  reading.cursor = {
    ...newCursor(cursor.generation + missed.length),
    rotated: [...rotated, ...found].slice(-MAX_ROTATED),
  };
}
