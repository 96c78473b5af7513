import {basename} from 'node:path';
import {isLeftover, stemOf} from '../../formats/common/key.ts';
import {type Cursor, cursorPath, deliveredAs, newCursor, type Position, positionOf} from '../../formats/cursor-file.ts';
import {shortHash} from '../../formats/inbox-message.ts';
import type {Disk} from '../../home/disk/disk.ts';
import {inboxFiles, openNumbered} from '../../home/inbox-files.ts';
import {
  closeInbox,
  isContinued,
  isIdentified,
  marksOf,
  type OpenInbox,
  openInbox,
  readLines,
} from '../../home/inbox-lines.ts';
import {statSignature} from '../../loop/file-state.ts';
import {HALF_SAVED_MS} from '../../loop/half-saved.ts';
import type {InboxReading} from '../state/inboxes.ts';
import {LinesRead, MAX_REMEMBERED_LINES} from '../state/lines-read.ts';
import type {With} from '../state/parts.ts';
import {firstCursor} from './first-cursor.ts';
import {otherPositions} from './inbox-cursors.ts';
import {deliveredUpTo, linesDelivered, linesOf, placesDelivered} from './lines-found.ts';
import {
  type ComparedFiles,
  compareFiles,
  contentAfter,
  finishedFile,
  isRotatedName,
  possibleCopies,
  type RotatedFile,
  unreadPosition,
  withFile,
} from './rotated-files.ts';

/** Lines are remembered only if no more than this was read from the file. */
const REMEMBERED = 4 * 1024 * 1024;
/** Retry delay while lines of the file are being delivered. */
const BUSY_MS = 50;
/** With copy-and-truncate rotation, the copy exists shortly before the original is truncated. */
const COPYING_MS = 2 * HALF_SAVED_MS;

/**
 * Find out which file has the inbox's name now, and set the cursor to it: the same file, a new one after a rotation, or
 * one that an editor rewrote. Returns the milliseconds to wait if that is not clear yet, else 0.
 */
export async function followInbox(
  daemon: With<'files' | 'inboxes'>,
  reading: InboxReading,
  file: OpenInbox,
): Promise<number> {
  const {files} = daemon;
  const {disk} = files;
  reading.cursor ??= await firstCursor(daemon, reading, file);
  const {cursor} = reading;
  const isCurrent = file.inode === cursor.inode && isContinued(file, cursor);
  if (isCurrent && isIdentified(cursor) && cursor.finished) return continueFile(disk, reading, file, cursor);
  const found = await compareWith(disk, reading, cursor, file, isCurrent);
  // A cursor of an earlier version does not name the finished files.
  if (isCurrent && isIdentified(cursor)) {
    const finished = await finishedFiles(disk, found);
    reading.cursor = {...cursor, finished};
    return continueFile(disk, reading, file, reading.cursor);
  }
  const isElsewhere = found.former !== undefined || isRenamed(disk, cursor, file);
  if (!isCurrent && !isElsewhere && isIdentified(cursor) && isContinued(file, cursor)) {
    cursor.inode = file.inode;
    return continueFile(disk, reading, file, cursor);
  }
  const former = await formerFile(disk, reading, cursor, found, file);
  if (former !== undefined || (!isIdentified(cursor) && found.fresh.length > 0)) {
    await rotate(disk, reading, cursor, found, former);
    return begin(daemon, reading, file);
  }
  // Nothing of it was read: whatever has the name now is read from its start.
  if (!isIdentified(cursor)) return begin(daemon, reading, file);
  const wait = msUntilStable(reading, file);
  if (wait > 0) return wait;
  const other = readElsewhere(daemon, reading, file);
  if (typeof other === 'number') return other;
  const before = other ? undefined : await linesBefore(disk, reading, cursor);
  if (before && (await isRewritten(file, before))) {
    rewrite(reading, cursor, file, before);
    return 0;
  }
  await rotate(disk, reading, cursor, found, undefined);
  return begin(daemon, reading, file);
}

/** The file is gone. If it was rotated, the rest of it is still read. The next file with the name is a new one. */
export async function followMissingInbox({files}: With<'files'>, reading: InboxReading): Promise<void> {
  const {cursor} = reading;
  if (!cursor) return;
  const {disk} = files;
  const found = await compareWith(disk, reading, cursor, undefined, false);
  const former = cursor.inode === '' ? undefined : await formerFile(disk, reading, cursor, found);
  if (cursor.inode !== '' || found.fresh.length > 0) await rotate(disk, reading, cursor, found, former);
}

/** A cursor of an earlier version does not name finished files: those written before the cursor was are finished. */
async function compareWith(
  disk: Disk,
  {name, path}: InboxReading,
  cursor: Cursor,
  file: OpenInbox | undefined,
  isCurrent: boolean,
): Promise<ComparedFiles> {
  const found = await compareFiles(disk, name, cursor, file, isCurrent);
  const since = cursor.finished ? undefined : disk.stat(cursorPath(path))?.mtimeNs;
  if (since === undefined) return found;
  const old = found.fresh.filter(({written}) => written < since);
  const fresh = found.fresh.filter(({written}) => written >= since);
  return {...found, fresh, finished: await finishedFiles(disk, {...found, fresh: old})};
}

/** Continue with the same file. Its lines are counted once, if that is cheap. */
async function continueFile(disk: Disk, reading: InboxReading, file: OpenInbox, cursor: Cursor): Promise<number> {
  reading.changedContent = undefined;
  if (!reading.counted && cursor.offset <= REMEMBERED)
    reading.lines = await linesOf(file, cursor.offset, MAX_REMEMBERED_LINES);
  reading.counted = true;
  if (cursor.rewritten === undefined || cursor.offset >= cursor.rewritten || reading.skip) return 0;
  // A daemon was killed while reading a rewritten file: find the delivered lines in the sessions.
  const {lines} = await linesDelivered(disk, reading.name, cursor);
  lines.takeAll(await linesOf(file, cursor.offset));
  reading.skip = lines;
  return 0;
}

/** The cursor for the next file with the name. */
function successor({generation, rotated, finished = []}: Cursor): Cursor {
  return {...newCursor(generation + 1), ...(rotated?.length && {rotated}), finished};
}

/** Begin a file that is new under this name, where it was read under another name or at its start. */
async function begin(daemon: With<'files' | 'inboxes'>, reading: InboxReading, file: OpenInbox): Promise<number> {
  const {files} = daemon;
  const other = readElsewhere(daemon, reading, file);
  if (typeof other === 'number') return other;
  const before = reading.cursor ?? newCursor();
  const isSame = before.inode === file.inode;
  const cursor: Cursor = {...before, inode: file.inode, ...other};
  reading.cursor = cursor;
  if (isSame && !other) return continueFile(files.disk, reading, file, cursor);
  reading.lines = new LinesRead(MAX_REMEMBERED_LINES);
  reading.lines.incomplete = other !== undefined;
  reading.counted = !other;
  reading.skip = undefined;
  reading.changedContent = undefined;
  reading.unfinished = undefined;
  if (other) return continueFile(files.disk, reading, file, cursor);
  // The cursor may be lost: skip lines that sessions already have.
  const isOld = reading.saved === '' && Number(file.stat.birthtimeMs) < files.disk.clock.origin;
  const {lines, last} = isOld && file.size > 0 ? await linesDelivered(files.disk, reading.name, cursor) : NOTHING;
  if (lines.length > 0) rewrite(reading, {...cursor, generation: last}, file, lines);
  return 0;
}

const NOTHING = {lines: new LinesRead(), last: 0};

/** The rotated files to remember as finished, where the inbox file is still the one that the cursor is in. */
async function finishedFiles(disk: Disk, {finished, fresh}: ComparedFiles): Promise<NonNullable<Cursor['finished']>> {
  const others = await Promise.all(fresh.map(file => finishedFile(disk, file)));
  return [...finished, ...others.flatMap(each => each ?? [])];
}

/**
 * Move the current position to the rotated files, together with rotated files that were never seen. They get the next generations, or this
 * one if nothing of the current file is known.
 */
async function rotate(
  disk: Disk,
  reading: InboxReading,
  cursor: Cursor,
  {fresh, rotated: known, finished}: ComparedFiles,
  former: Position | 'read' | undefined,
): Promise<void> {
  const rotated = [...known];
  let {generation} = cursor;
  if (former !== undefined && former !== 'read') rotated.push(former);
  if (former === undefined && !isIdentified(cursor)) generation--;
  for (const file of fresh)
    if (!(typeof former === 'object' && file.inode === former.inode))
      rotated.push(await unreadPosition(disk, file, ++generation));
  reading.cursor = successor({...cursor, generation, rotated, finished});
}

/** The position in the file that was read so far, if a rotation renamed, copied or compressed it. */
async function formerFile(
  disk: Disk,
  {name}: InboxReading,
  cursor: Cursor,
  found: ComparedFiles,
  file?: OpenInbox,
): Promise<Position | 'read' | undefined> {
  const {as, ...at} = positionOf(cursor);
  const isOwn = cursor.since !== cursor.generation;
  const position = (inode: string): Position => ({...at, inode, ...(as !== undefined && !isOwn && {as})});
  if (found.former) return found.former === 'read' ? 'read' : position(found.former.inode);
  if (isRenamed(disk, cursor, file)) return position(cursor.inode);
  if (!isIdentified(cursor)) return undefined;
  for (const copy of possibleCopies(disk, name)) {
    if (copy.inode === file?.inode || isLeftover(copy.name)) continue;
    const result = await contentAfter(disk, copy, at);
    if (result) return result === 'read' ? 'read' : position(result.inode);
  }
  return shorterCopy(disk, name, cursor, found.fresh);
}

/** The position in a copy that was made before some of the lines that were read. Slow: reads every session. */
async function shorterCopy(
  disk: Disk,
  name: string,
  cursor: Cursor,
  fresh: readonly RotatedFile[],
): Promise<Position | undefined> {
  if (fresh.length === 0) return undefined;
  const as = deliveredAs(name, cursor);
  const places = (await placesDelivered(disk, as.name)).get(as.generation);
  if (!places) return undefined;
  const own = new Map([[cursor.generation, places]]);
  for (const file of fresh) {
    const at = await withFile(disk, file, undefined, open => deliveredUpTo(open, own));
    if (at) return {...at.position, ...(cursor.as !== undefined && {as: cursor.as})};
  }
  return undefined;
}

function rewrite(reading: InboxReading, cursor: Cursor, file: OpenInbox, before: LinesRead): void {
  const {since, as} = cursor;
  reading.cursor = {
    ...successor(cursor),
    ...{since, inode: file.inode, rewritten: file.size},
    ...(as !== undefined && {as}),
  };
  reading.skip = before.copy();
  reading.lines = before.copy(MAX_REMEMBERED_LINES);
  reading.changedContent = undefined;
  reading.unfinished = undefined;
}

/** Lines that were delivered from the former version of the file. */
async function linesBefore(disk: Disk, {lines, name}: InboxReading, cursor: Cursor): Promise<LinesRead> {
  return lines.incomplete ? (await linesDelivered(disk, name, cursor)).lines : lines;
}

/** Whether the file is an edited version of the former one: some of its first lines are known. */
async function isRewritten(file: OpenInbox, before: LinesRead): Promise<boolean> {
  const {lines} = await readLines(file, 0, {holes: true});
  return lines.some(({bytes}) => before.has(shortHash(bytes)));
}

/** Milliseconds until changed content counts as stable. Editors truncate a file before they write it. */
function msUntilStable(reading: InboxReading, file: OpenInbox): number {
  const now = file.clock.monotonic();
  const is = statSignature(file.stat);
  if (reading.changedContent?.signature !== is) reading.changedContent = {signature: is, since: now};
  return Math.max(0, Math.ceil(HALF_SAVED_MS - (now - reading.changedContent.since)));
}

/** Whether the file was renamed, other than by an editor. Compares content too, because inodes are reused. */
function isRenamed(disk: Disk, cursor: Position, current?: OpenInbox): boolean {
  if (cursor.inode === '' || cursor.inode === current?.inode) return false;
  const found = openNumbered(disk, cursor.inode);
  if (!found) return false;
  try {
    return !isLeftover(found.name) && isContinued(found.file, cursor);
  } finally {
    closeInbox(found.file);
  }
}

function isContinuedIn(disk: Disk, path: string, cursor: Position): boolean {
  const file = openInbox(disk, path);
  if (!file) return false;
  try {
    return isContinued(file, cursor);
  } finally {
    closeInbox(file);
  }
}

/**
 * How far another inbox has read this file under its former name, or the original that this file is a copy of. A number is
 * the milliseconds to wait because that is not clear yet.
 */
function readElsewhere(
  daemon: With<'files' | 'inboxes'>,
  reading: InboxReading,
  file: OpenInbox,
): Partial<Cursor> | number | undefined {
  const {files} = daemon;
  const {disk} = files;
  for (const {path, at, busy} of otherPositions(daemon, reading.path)) {
    const isMoved = at.inode === file.inode && `${inboxFiles(disk).get(basename(path))?.ino}` !== file.inode;
    const isCopy = !isMoved && isRotatedName(stemOf(path), reading.name);
    if (!(isMoved || isCopy) || !isContinued(file, at)) continue;
    if (busy) return BUSY_MS;
    if (!isIdentified(at)) continue;
    if (isCopy && isContinuedIn(disk, path, at)) {
      // The original may be truncated in a moment.
      reading.changedContent ??= {signature: '', since: files.disk.clock.monotonic()};
      const waitMs = COPYING_MS - (files.disk.clock.monotonic() - reading.changedContent.since);
      if (waitMs > 0) return Math.ceil(waitMs);
      continue;
    }
    const {offset, line, head} = at;
    const {name, generation} = deliveredAs(basename(path), at);
    return {offset, line, as: `${name}@${generation}`, ...marksOf(file.file, offset), ...(offset === 0 && {head})};
  }
  return undefined;
}
