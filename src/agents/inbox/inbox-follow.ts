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

/** Of a file that is read up to here it is remembered which lines it has. */
const REMEMBERED = 4 * 1024 * 1024;
/** Some of its lines are on their way. */
const BUSY_MS = 50;
/** A copy that a rotation makes is there a moment before its original is cut. */
const COPYING_MS = 2 * HALF_SAVED_MS;

/**
 * See which file has the inbox's name now, and where it is to be read from: the one that was read before, another after a
 * rotation, or one that an editor wrote anew. The cursor then is of that file. Milliseconds: it is not clear yet.
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
  if (isSame && isContinued(file, cursor)) return known(disk, reading, file, cursor);
  if (!isSame) {
    if (isRenamed(disk, cursor)) {
      await rotate(daemon, reading, cursor, cursor.inode, file);
      return begin(daemon, reading, file);
    }
    if (isContinued(file, cursor)) {
      cursor.inode = file.inode;
      return known(disk, reading, file, cursor);
    }
  }
  const wait = holdsStill(reading, file);
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

/** It is gone: if it was renamed, what is left of it is still read. What has its name next is another file. */
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

/** The same file, perhaps longer. Which lines it has is looked up once, as long as that is cheap. */
async function known(disk: Disk, reading: InboxReading, file: OpenInbox, cursor: Cursor): Promise<number> {
  reading.changedContent = undefined;
  if (!reading.counted && cursor.offset <= REMEMBERED)
    reading.lines = await linesOf(file, cursor.offset, MAX_REMEMBERED_LINES);
  reading.counted = true;
  if (cursor.rewritten === undefined || cursor.offset >= cursor.rewritten || reading.skip) return 0;
  // A daemon was killed within a file that was written anew: what had been read before is in the sessions.
  const {lines} = await linesDelivered(disk, reading.name, cursor);
  lines.takeAll(await linesOf(file, cursor.offset));
  reading.skip = lines;
  return 0;
}

/** For the file that has the name next. */
function successor({generation, rotated}: Cursor): Cursor {
  return {...newCursor(generation + 1), ...(rotated?.length && {rotated})};
}

/** A file that was not read under this name: from where it was read under another, else from its beginning. */
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
  if (other) return known(files.disk, reading, file, cursor);
  // Its cursor may be lost: what sessions have of it is not delivered again.
  const isOld = reading.saved === '' && Number(file.stat.birthtimeMs) < files.disk.clock.origin;
  const {lines, last} = isOld && file.size > 0 ? await linesDelivered(files.disk, reading.name, cursor) : NOTHING;
  if (lines.length > 0) rewrite(reading, {...cursor, generation: last}, file, lines);
  return 0;
}

const NOTHING = {lines: new LinesRead(), last: 0};

/** What was read so far goes on as another file, of this number; and those that had the name after it, if nobody saw them. */
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

/** Lines that were delivered from the file as it was before. */
async function linesBefore(disk: Disk, {lines, name}: InboxReading, cursor: Cursor): Promise<LinesRead> {
  return lines.incomplete ? (await linesDelivered(disk, name, cursor)).lines : lines;
}

/** Whether it is what was there before, edited: then some of its first lines are known. */
async function isRewritten(file: OpenInbox, before: LinesRead): Promise<boolean> {
  const {lines} = await readLines(file, 0, {holes: true});
  return lines.some(({bytes}) => before.has(shortHash(bytes)));
}

/** A shorter or other text counts when it has stayed so: editors cut a file before they write it. */
function holdsStill(reading: InboxReading, file: OpenInbox): number {
  const now = file.clock.monotonic();
  const is = statSignature(file.stat);
  if (reading.changedContent?.signature !== is) reading.changedContent = {signature: is, since: now};
  return Math.max(0, Math.ceil(HALF_SAVED_MS - (now - reading.changedContent.since)));
}

/** Whether the file that was read is there under another name, which is none that editors give. Numbers of files are used again. */
function isRenamed(disk: Disk, cursor: Position): boolean {
  const found = openNumbered(disk, cursor.inode);
  if (!found) return false;
  try {
    return !isLeftover(found.name) && isContinued(found.file, cursor);
  } finally {
    closeInbox(found.file);
  }
}

/** A file that was cut after somebody copied it: the copy begins with what was read. */
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

/** `inode`: of the file that had this name a moment ago, whatever it has now. */
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
 * How far another inbox read this file before it got its name, or the one that a rotation copied it from. Milliseconds: it is
 * not clear yet.
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
      // Perhaps the original is cut in a moment.
      reading.changedContent ??= {signature: '', since: files.disk.clock.monotonic()};
      const left = COPYING_MS - (files.disk.clock.monotonic() - reading.changedContent.since);
      if (left > 0) return Math.ceil(left);
      continue;
    }
    const {offset, line} = at;
    const {name, generation} = deliveredAs(basename(path), at);
    return {offset, line, as: `${name}@${generation}`, ...marksOf(file.file, offset)};
  }
  return undefined;
}
