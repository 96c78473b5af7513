import {basename} from 'node:path';
import {type Cursor, cursorPath, newCursor, type Position, parseCursor, positionOf} from '../files/cursor-file.ts';
import {shortHash} from '../files/inbox-message.ts';
import {isLeftover, kindOf, stemOf} from '../files/key.ts';
import {
  closeInbox,
  inboxFiles,
  isContinued,
  marksOf,
  type OpenInbox,
  openInbox,
  readLines,
} from '../store/inbox-lines.ts';
import {listFolder, readHomeFile} from '../store/read.ts';
import {DOUBTFUL_MS} from './doubt.ts';
import type {Reading} from './inboxes.ts';
import {signature} from './known.ts';
import {linesDelivered, linesOf} from './lines-found.ts';
import {LinesRead} from './lines-read.ts';
import type {Serving} from './serving.ts';

/** Of a file that is read up to here it is remembered which lines it has. */
const REMEMBERED = 4 * 1024 * 1024;
/** So many files that were renamed are followed to their end. */
const MOST_ROTATED = 20;
/** Some of its lines are on their way. */
const BUSY_MS = 50;
/** A copy that a rotation makes is there a moment before its original is cut. */
const COPYING_MS = 2 * DOUBTFUL_MS;

/**
 * See which file has the inbox's name now, and where it is to be read from: the one that was read before, another after a
 * rotation, or one that an editor wrote anew. The cursor then is of that file. Milliseconds: it is not clear yet.
 */
export async function follow(serving: Serving, reading: Reading, file: OpenInbox): Promise<number> {
  const {home} = serving;
  const cursor = reading.cursor ?? newCursor();
  reading.cursor = cursor;
  if (cursor.inode === '') {
    const wait = adopt(serving, reading, cursor, file);
    if (wait > 0) return wait;
    cursor.inode = file.inode;
    if (cursor.offset > 0) return known(home, reading, file, cursor);
    reading.lines = new LinesRead();
    reading.counted = true;
    return 0;
  }
  const isSame = file.inode === cursor.inode;
  if (isSame && isContinued(file, cursor)) return known(home, reading, file, cursor);
  if (!isSame) {
    if (isRenamed(home, cursor)) {
      rotate(reading, cursor, cursor.inode);
      return begin(reading, file);
    }
    if (isContinued(file, cursor)) {
      cursor.inode = file.inode;
      return known(home, reading, file, cursor);
    }
  }
  const wait = holdsStill(reading, file);
  if (wait > 0) return wait;
  const copy = isSame ? copyOf(home, reading.name, cursor) : undefined;
  if (copy !== undefined) {
    rotate(reading, cursor, copy);
    return begin(reading, file);
  }
  const before = await linesBefore(home, reading, cursor);
  if (await isRewritten(file, before)) rewrite(reading, cursor, file, before);
  else begin(reading, file);
  return 0;
}

/** It is gone: if it was renamed, what is left of it is still read. What has its name next is another file. */
export function followGone(serving: Serving, reading: Reading): void {
  const {cursor} = reading;
  if (!cursor || cursor.inode === '') return;
  const {generation, rotated} = cursor;
  if (isRenamed(serving.home, cursor)) rotate(reading, cursor, cursor.inode);
  else reading.cursor = {...newCursor(generation + 1), ...(rotated?.length && {rotated})};
}

/** The same file, perhaps longer. Which lines it has is looked up once, as long as that is cheap. */
async function known(home: string, reading: Reading, file: OpenInbox, cursor: Cursor): Promise<number> {
  reading.doubt = undefined;
  if (!reading.counted && cursor.offset <= REMEMBERED) reading.lines = await linesOf(file, cursor.offset);
  reading.counted = true;
  if (cursor.rewritten === undefined || cursor.offset >= cursor.rewritten || reading.skip) return 0;
  // A daemon was killed within a file that was written anew: what had been read before is in the sessions.
  reading.skip = await linesDelivered(home, reading.name, cursor.since);
  for (const hash of (await linesOf(file, cursor.offset)).hashes()) reading.skip.take(hash);
  return 0;
}

/** A new file of this name: nothing of it is read yet. */
function begin(reading: Reading, file: OpenInbox): number {
  const {generation, rotated, inode} = reading.cursor ?? newCursor();
  const next = inode === '' ? generation : generation + 1;
  reading.cursor = {...newCursor(next), inode: file.inode, ...(rotated?.length && {rotated})};
  reading.lines = new LinesRead();
  reading.skip = undefined;
  reading.doubt = undefined;
  reading.unfinished = undefined;
  return 0;
}

/** What was read so far goes on as another file, of this number. */
function rotate(reading: Reading, cursor: Cursor, inode: string): void {
  const rotated = [...(cursor.rotated ?? []), {...positionOf(cursor), inode}].slice(-MOST_ROTATED);
  reading.cursor = {...newCursor(cursor.generation + 1), rotated};
}

function rewrite(reading: Reading, cursor: Cursor, file: OpenInbox, before: LinesRead): void {
  const {since, generation, rotated} = cursor;
  reading.cursor = {
    ...newCursor(generation + 1),
    ...{since, inode: file.inode, rewritten: file.size},
    ...(rotated?.length && {rotated}),
  };
  reading.skip = before.copy();
  reading.lines = before;
  reading.doubt = undefined;
  reading.unfinished = undefined;
}

/** Lines that were delivered from the file as it was before. */
export async function linesBefore(home: string, reading: Reading, {since}: Cursor): Promise<LinesRead> {
  if (!reading.lines.incomplete) return reading.lines;
  return linesDelivered(home, reading.name, since);
}

/** Whether it is what was there before, edited: then some of its first lines are known. */
async function isRewritten(file: OpenInbox, before: LinesRead): Promise<boolean> {
  const {lines} = await readLines(file, 0, {holes: true});
  return lines.some(({bytes}) => before.has(shortHash(bytes)));
}

/** A shorter or other text counts when it has stayed so: editors cut a file before they write it. */
function holdsStill(reading: Reading, file: OpenInbox): number {
  const now = performance.now();
  const is = signature(file.stat);
  if (reading.doubt?.signature !== is) reading.doubt = {signature: is, since: now};
  return Math.max(0, Math.ceil(DOUBTFUL_MS - (now - reading.doubt.since)));
}

/** Whether the file that was read is there under another name, which is none that editors give. Numbers of files are used again. */
function isRenamed(home: string, cursor: Position): boolean {
  for (const [name, inode] of inboxFiles(home))
    if (inode === cursor.inode) return !isLeftover(name) && isContinuedIn(home, `inbox/${name}`, cursor);
  return false;
}

/** A file that was cut after somebody copied it: the copy begins with what was read. */
function copyOf(home: string, name: string, cursor: Cursor): string | undefined {
  const stem = name.replace(/\.jsonl$/, '');
  for (const [other, inode] of inboxFiles(home)) {
    if (other === name || !other.startsWith(stem) || isLeftover(other)) continue;
    if (kindOf(`inbox/${other}`) && !isRotatedName(stem, other)) continue;
    if (isContinuedIn(home, `inbox/${other}`, cursor)) return inode;
  }
  return undefined;
}

function isContinuedIn(home: string, path: string, cursor: Position): boolean {
  const file = openInbox(home, path);
  if (!file) return false;
  try {
    return isContinued(file, cursor);
  } finally {
    closeInbox(file);
  }
}

/** A new inbox that is another one renamed, or the copy that a rotation made of it, is read from where that was. */
function adopt(serving: Serving, reading: Reading, cursor: Cursor, file: OpenInbox): number {
  if (cursor.offset > 0 || cursor.generation > 1) return 0;
  const {home} = serving;
  for (const {path, at, busy} of positionsBut(serving, reading.path)) {
    const isMoved = at.inode === file.inode && inboxFiles(home).get(basename(path)) !== file.inode;
    const isCopy = !isMoved && isRotatedName(stemOf(path), reading.name) && at.offset > 0;
    if (!(isMoved || isCopy) || !isContinued(file, at)) continue;
    if (busy) return BUSY_MS;
    if (isCopy && isContinuedIn(home, path, at)) {
      // Perhaps the original is cut in a moment.
      reading.doubt ??= {signature: '', since: performance.now()};
      const left = COPYING_MS - (performance.now() - reading.doubt.since);
      if (left > 0) return Math.ceil(left);
      continue;
    }
    const {generation, offset, line} = at;
    const as = at.as ?? basename(path);
    Object.assign(cursor, {generation, since: generation, offset, line, as, ...marksOf(file.fd, offset)});
    reading.counted = false;
    reading.lines.incomplete = true;
    return 0;
  }
  return 0;
}

/** slack-20261117.jsonl, slack.1.jsonl: of slack.jsonl. */
function isRotatedName(stem: string, name: string): boolean {
  return name.startsWith(stem) && /^[-_.]?\d[\dTZ_.:-]*\.jsonl$/.test(name.slice(stem.length));
}

/** How far other inboxes, and files that they were, are read. */
function positionsBut(
  {home, inboxes}: Serving,
  path: string,
): {path: string; at: Position & {as?: string}; busy: boolean}[] {
  const written = listFolder(home, 'state/inbox').map(each => `inbox/${stemOf(each)}.jsonl`);
  return [...new Set([...written, ...inboxes.paths()])].flatMap(other => {
    const reading = other === path ? undefined : inboxes.get(other);
    const cursor = other === path ? undefined : (reading?.cursor ?? readCursor(home, other).cursor);
    const busy = (reading?.underWay ?? 0) > 0;
    return cursor ? [cursor, ...(cursor.rotated ?? [])].map(at => ({path: other, at: at as Position, busy})) : [];
  });
}

/** The cursor as it stands in its file; `wrong`: it cannot be read. */
export function readCursor(home: string, inbox: string): {cursor?: Cursor; text: string; wrong?: true} {
  const read = readHomeFile(home, cursorPath(inbox));
  if (!read) return {text: ''};
  const {value, text} = 'text' in read ? parseCursor(read.text) : {value: undefined, text: ''};
  return value ? {cursor: value, text} : {text, wrong: true};
}
