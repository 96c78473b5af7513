import {basename} from 'node:path';
import {isLeftover, kindOf, stemOf} from '../../formats/common/key.ts';
import {type Cursor, deliveredAs, newCursor, type Position, positionOf} from '../../formats/cursor-file.ts';
import {shortHash} from '../../formats/inbox-message.ts';
import type {Disk} from '../../home/disk/disk.ts';
import {inboxFiles, openNumbered} from '../../home/inbox-files.ts';
import {closeInbox, isContinued, marksOf, type OpenInbox, openInbox, readLines} from '../../home/inbox-lines.ts';
import {unpackRotated} from '../../home/unpack-inbox.ts';
import {statSignature} from '../../loop/file-state.ts';
import {HALF_SAVED_MS} from '../../loop/half-saved.ts';
import type {InboxReading} from '../state/inboxes.ts';
import {LinesRead, MAX_REMEMBERED_LINES} from '../state/lines-read.ts';
import type {With} from '../state/parts.ts';
import {otherPositions} from './inbox-cursors.ts';
import {isRotatedName, missedFiles} from './inbox-missed.ts';
import {findMissed, findUnseen, MAX_ROTATED} from './inbox-unseen.ts';
import {linesDelivered, linesOf} from './lines-found.ts';

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
  if (!reading.cursor) await findUnseen(daemon, reading, file);
  const cursor = reading.cursor ?? newCursor();
  reading.cursor = cursor;
  if (cursor.inode === '') {
    await findMissed(daemon, reading, cursor, file);
    return begin(daemon, reading, file);
  }
  const isSame = file.inode === cursor.inode;
  if (isSame && isContinued(file, cursor)) return continueFile(disk, reading, file, cursor);
  if (!isSame) {
    if (isRenamed(disk, cursor)) {
      await rotate(daemon, reading, cursor, cursor.inode, file);
      return begin(daemon, reading, file);
    }
    if (isContinued(file, cursor)) {
      cursor.inode = file.inode;
      return continueFile(disk, reading, file, cursor);
    }
  }
  const wait = msUntilStable(reading, file);
  if (wait > 0) return wait;
  const copy =
    (isSame ? findCopy(disk, reading.name, cursor) : undefined) ?? (await unpackRotated(disk, reading.name, cursor));
  if (copy !== undefined) {
    await rotate(daemon, reading, cursor, copy, file);
    return begin(daemon, reading, file);
  }
  const other = readElsewhere(daemon, reading, file);
  if (typeof other === 'number') return other;
  const before = other ? undefined : await linesBefore(disk, reading, cursor);
  if (before && (await isRewritten(file, before))) {
    rewrite(reading, cursor, file, before);
    return 0;
  }
  reading.cursor = successor(cursor);
  return begin(daemon, reading, file);
}

/** The file is gone. If it was renamed, the rest of it is still read. The next file with the name is a new one. */
export async function followMissingInbox(daemon: With<'files' | 'inboxes'>, reading: InboxReading): Promise<void> {
  const {cursor} = reading;
  if (!cursor) return;
  if (cursor.inode === '') return findMissed(daemon, reading, cursor);
  const {files} = daemon;
  const {disk} = files;
  const inode = isRenamed(disk, cursor) ? cursor.inode : await unpackRotated(disk, reading.name, cursor);
  if (inode !== undefined) await rotate(daemon, reading, cursor, inode);
  else reading.cursor = successor(cursor);
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
function successor({generation, rotated}: Cursor): Cursor {
  return {...newCursor(generation + 1), ...(rotated?.length && {rotated})};
}

/** Begin a file that is new under this name, where it was read under another name or at its start. */
async function begin(daemon: With<'files' | 'inboxes'>, reading: InboxReading, file: OpenInbox): Promise<number> {
  const {files} = daemon;
  const other = readElsewhere(daemon, reading, file);
  if (typeof other === 'number') return other;
  const cursor: Cursor = {...(reading.cursor ?? newCursor()), inode: file.inode, ...other};
  reading.cursor = cursor;
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

/** Move the current position to the rotated files, under `inode`, together with later rotated files that were never seen. */
async function rotate(
  daemon: With<'files' | 'inboxes'>,
  reading: InboxReading,
  cursor: Cursor,
  inode: string,
  file?: OpenInbox,
): Promise<void> {
  const {as, ...at} = positionOf(cursor);
  const isOwn = cursor.since !== cursor.generation;
  const rotated = [...(cursor.rotated ?? []), {...at, inode, ...(as !== undefined && !isOwn && {as})}];
  let {generation} = cursor;
  for (const each of await missedFiles(daemon, reading.name, rotated, file))
    rotated.push(positionOf({...newCursor(++generation), inode: each.inode}));
  reading.cursor = successor({...cursor, generation, rotated: rotated.slice(-MAX_ROTATED)});
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
function isRenamed(disk: Disk, cursor: Position): boolean {
  const found = openNumbered(disk, cursor.inode);
  if (!found) return false;
  try {
    return !isLeftover(found.name) && isContinued(found.file, cursor);
  } finally {
    closeInbox(found.file);
  }
}

/** The inode of a copy made before the file was truncated: the copy begins with the lines that were read. */
export function findCopy(disk: Disk, name: string, cursor: Position): string | undefined {
  const stem = name.replace(/\.jsonl$/, '');
  if (cursor.offset === 0) return undefined;
  for (const [other, {ino}] of inboxFiles(disk)) {
    if (other === name || !other.startsWith(stem) || isLeftover(other)) continue;
    if (kindOf(`inbox/${other}`) && !isRotatedName(stem, other)) continue;
    if (isContinuedIn(disk, `inbox/${other}`, cursor, `${ino}`)) return `${ino}`;
  }
  return undefined;
}

/** `inode`: the file that had this path a moment ago, even if it was renamed since. */
function isContinuedIn(disk: Disk, path: string, cursor: Position, inode?: string): boolean {
  let file = openInbox(disk, path);
  if (inode !== undefined && file?.inode !== inode) {
    if (file) closeInbox(file);
    file = openNumbered(disk, inode)?.file;
  }
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
    if (at.offset === 0) continue;
    if (isCopy && isContinuedIn(disk, path, at)) {
      // The original may be truncated in a moment.
      reading.changedContent ??= {signature: '', since: files.disk.clock.monotonic()};
      const waitMs = COPYING_MS - (files.disk.clock.monotonic() - reading.changedContent.since);
      if (waitMs > 0) return Math.ceil(waitMs);
      continue;
    }
    const {offset, line} = at;
    const {name, generation} = deliveredAs(basename(path), at);
    return {offset, line, as: `${name}@${generation}`, ...marksOf(file.file, offset)};
  }
  return undefined;
}
