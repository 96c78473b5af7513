import {unreadFacts} from '../../check/facts.ts';
import {type Cursor, cursorPath, type Position} from '../../files/cursor-file.ts';
import {kindOf} from '../../files/key.ts';
import type {Outcome} from '../../queue.ts';
import {
  closeInbox,
  isContinued,
  marksOf,
  type OpenInbox,
  openInbox,
  reaches,
  readLines,
} from '../../store/inbox-lines.ts';
import {setAside} from '../../store/set-aside.ts';
import {removeUnpacked} from '../../store/unpack-inbox.ts';
import {DOUBTFUL_MS} from '../doubt.ts';
import {signature} from '../known.ts';
import {lookAgain} from '../look-again.ts';
import type {Serving} from '../serving.ts';
import {setFacts, tell} from '../state.ts';
import {advanced, after, type Batch, batchOf, newOnes} from './inbox-batch.ts';
import {readCursor} from './inbox-cursors.ts';
import {follow, followGone} from './inbox-follow.ts';
import {drop, isOpen, isSaved, isTaken, letGo, openRotated} from './inbox-rotated.ts';
import {showBlocked, showUnreadable} from './inbox-show.ts';
import {findUnseen} from './inbox-unseen.ts';
import type {Reading} from './inboxes.ts';

/** Where zero bytes stand something may still be written: so long. */
const HOLE_MS = 10_000;
/** Of what was delivered the cursor tells after this at the latest; a crash before has it read again, and delivered no more. */
const CURSOR_MS = 2_000;
/** A writer may have a file open for so long after it was renamed. */
const OPEN_MS = 30_000;
const UNFINISHED_MS = 600_000;
const WAIT_MS = 500;
/** How far it is: so often, and from the beginning if so many bytes are to be read. */
const TELL_MS = 2_000;
const LARGE = 512 * 1024;
/** Lines that are delivered at a time. */
const MOST_LINES = 2_000;

/**
 * Look at an inbox: some of its lines that were not read yet become letters. When all of those are delivered it is looked at again, until
 * nothing is left. It costs what was appended.
 */
export async function lookAtInbox(serving: Serving, path: string): Promise<Outcome> {
  const reading = serving.inboxes.of(path);
  if (serving.loading) {
    remember(serving, path, '');
    return undefined;
  }
  if (reading.underWay > 0) return undefined;
  if (serving.journal.unfinished()) return {after: WAIT_MS};
  let file: OpenInbox | undefined;
  try {
    file = openInbox(serving.disk, path);
  } catch (error) {
    return showUnreadable(serving, path, error as NodeJS.ErrnoException);
  }
  try {
    if (!loadCursor(serving, reading)) return undefined;
    if (!file) return await gone(serving, reading);
    remember(serving, path, signature(file.stat));
    const wait = await follow(serving, reading, file);
    if (wait > 0) return {after: wait};
    const before = await readRotated(serving, reading);
    return before ? before.outcome : await readOn(serving, reading, file, reading.cursor);
  } finally {
    if (file) closeInbox(file);
  }
}

/** False: its cursor has errors, and is shown as a problem. */
function loadCursor(serving: Serving, reading: Reading): boolean {
  if (reading.cursor) return true;
  const {cursor, text, wrong} = readCursor(serving.disk, reading.path);
  reading.waits = wrong ? `${cursorPath(reading.path)} has errors` : undefined;
  if (wrong) return false;
  reading.saved = text;
  reading.counted = !cursor;
  reading.lines.incomplete = cursor !== undefined;
  if (cursor) reading.cursor = cursor;
  return true;
}

/** Files that had the name before are read to their end, and before the one that has it now. Undefined: that one is next. */
async function readRotated(serving: Serving, reading: Reading): Promise<{outcome: Outcome} | undefined> {
  for (const at of reading.cursor?.rotated ?? []) {
    const {name = '', file} = (await openRotated(serving.disk, reading, at)) ?? {};
    try {
      const path = `inbox/${name}`;
      const isInbox = kindOf(path) !== undefined;
      // Renamed to another inbox, it is read as that, from here on.
      if (isInbox && !isTaken(serving.inboxes.get(path), at)) continue;
      if (!file || isInbox || !isContinued(file, at)) drop(reading, at);
      else {
        const outcome = await readOn(serving, reading, file, at);
        const now = reading.cursor?.rotated?.find(each => each.inode === at.inode);
        if (reading.underWay > 0 || now?.offset !== at.offset) return {outcome};
        if (reading.waits !== undefined) return {outcome};
        // A last line without its newline may still get it.
        const age = serving.clock.now() - Number(file.stat.mtimeMs);
        if (age > (at.offset === file.size ? OPEN_MS : UNFINISHED_MS)) {
          // What was unpacked must not be unpacked again by the next daemon.
          letGo(reading, at, removeUnpacked(serving.disk, name));
        }
      }
    } finally {
      if (file) closeInbox(file);
    }
  }
  return undefined;
}

/** Deliver the next lines of a file; if there are none, all that is left is to write down how far it is read. */
async function readOn(serving: Serving, reading: Reading, file: OpenInbox, at: Position | undefined): Promise<Outcome> {
  if (!at) return undefined;
  const isMain = at.generation === reading.cursor?.generation;
  const hole = inHole(reading, at.offset) ? reading.hole : undefined;
  const waited = hole !== undefined && serving.clock.monotonic() - hole.since > HOLE_MS;
  const holes = waited || serving.clock.now() - Number(file.stat.mtimeMs) > HOLE_MS;
  const unfinished = reading.unfinished?.from === at.offset && isMain ? reading.unfinished : undefined;
  const chunk = await readLines(file, at.offset, {scanned: unfinished?.to ?? at.offset, holes, most: MOST_LINES});
  if (isMain) reading.unfinished = chunk.lines.length === 0 ? {from: at.offset, to: chunk.scanned} : undefined;
  // Before anybody else has a turn: what is read next must be the file that these lines are of.
  const marks = marksOf(file.file, chunk.end);
  if (!reaches(file, chunk.end)) return {after: 1};
  const batch = await batchOf(serving, reading, at, chunk.lines);
  showBlocked(serving, reading, batch.blocked);
  if (batch.lines > 0) {
    if (!inHole(reading, batch.end)) reading.hole = undefined;
    const next = after(at, batch, batch.end === chunk.end ? marks : marksOf(file.file, batch.end));
    if (chunk.more) tellProgress(serving, reading, at, file.size);
    await deliver(serving, reading, batch, next, chunk.more && !batch.blocked);
    return undefined;
  }
  if (!isMain) return undefined;
  finish(serving, reading, batch.blocked !== undefined);
  if (chunk.hole && !batch.blocked) {
    if (!hole) reading.hole = {at: at.offset, to: file.size, since: serving.clock.monotonic()};
    return again(serving, HOLE_MS / 10);
  }
  return isOpen(reading) ? again(serving, WAIT_MS) : undefined;
}

/** At once of a large inbox, and now and then of one that takes long. */
function tellProgress({report, clock}: Serving, reading: Reading, {line, offset}: Position, size: number): void {
  const now = clock.monotonic();
  reading.long ??= {told: size - offset > LARGE ? Number.NEGATIVE_INFINITY : now, said: false};
  if (now - reading.long.told < TELL_MS) return;
  reading.long = {told: now, said: true};
  report({event: 'reading', inbox: reading.path, lines: line, percent: Math.floor((100 * offset) / size)});
}

/** What stood there when zero bytes were found has been waited for with them. */
function inHole({hole}: Reading, offset: number): boolean {
  return hole !== undefined && offset >= hole.at && offset < hole.to;
}

/** Look again after a while, unless there is an end to it: then the next start does. */
function again({once, hurry}: Serving, ms: number): Outcome {
  return once || hurry ? undefined : {after: ms};
}

async function deliver(
  serving: Serving,
  reading: Reading,
  {letters: all, rejected}: Batch,
  next: Position,
  more: boolean,
): Promise<void> {
  const {path} = reading;
  if (rejected.length > 0) {
    await setAside(serving.disk, path, rejected, reading.rejected === 0);
    reading.rejected += rejected.length;
  }
  const letters = await newOnes(serving, all);
  const over = () => {
    if (--reading.underWay > 0) return;
    reading.cursor = advanced(reading.cursor as Cursor, next);
    if (serving.clock.monotonic() - reading.savedAt > CURSOR_MS) saveCursor(serving, reading);
    lookAgain(serving, path);
  };
  reading.underWay = letters.length + 1;
  const sessions = new Set(letters.map(letter => letter.path));
  for (const session of sessions) {
    if (more) reading.expecting.add(session);
    if (more) serving.mail.expect(session);
  }
  for (const {path: session, letter} of letters) {
    serving.mail.post(session, {...letter, delivered: over});
  }
  for (const session of sessions) lookAgain(serving, session);
  over();
}

/** Nothing is left to read now. */
function finish(serving: Serving, reading: Reading, blocked: boolean): void {
  for (const session of reading.expecting) {
    serving.mail.expectNoMore(session);
    lookAgain(serving, session);
  }
  reading.expecting.clear();
  saveCursor(serving, reading);
  if (reading.long?.said && !blocked)
    serving.report({event: 'reading', inbox: reading.path, lines: reading.cursor?.line ?? 0, percent: 100});
  reading.long = undefined;
  const known = serving.known.get(reading.path);
  if (known) known.settled = !blocked && isSaved(reading);
  serving.nudged.delete(reading.path);
  serving.unsaved = true;
}

function saveCursor(serving: Serving, reading: Reading): void {
  if (isSaved(reading)) return;
  reading.savedAt = serving.clock.monotonic();
  lookAgain(serving, cursorPath(reading.path));
}

/** The file may be gone for a moment only. What it was before it was renamed is still read. */
async function gone(serving: Serving, reading: Reading): Promise<Outcome> {
  const {path} = reading;
  if (!serving.known.has(path) && !reading.cursor) {
    await findUnseen(serving, reading);
    if (!reading.cursor) return undefined;
    const unseen = await readRotated(serving, reading);
    return unseen ? unseen.outcome : again(serving, WAIT_MS);
  }
  const now = serving.clock.monotonic();
  if (reading.doubt?.signature !== 'gone') reading.doubt = {signature: 'gone', since: now};
  const left = DOUBTFUL_MS - (now - reading.doubt.since);
  if (left > 0) return {after: Math.ceil(left)};
  await followGone(serving, reading);
  const before = await readRotated(serving, reading);
  if (before) return before.outcome;
  finish(serving, reading, false);
  if (isOpen(reading)) return again(serving, WAIT_MS);
  serving.known.delete(path);
  setFacts(serving, path, undefined);
  tell(serving);
  return undefined;
}

/** The scan has it looked at when it is not as it was now. */
function remember(serving: Serving, path: string, is: string): void {
  const isNew = !serving.known.has(path);
  serving.known.set(path, {signature: is, blob: '', good: undefined, ignored: true, settled: false});
  if (isNew || !serving.index.facts(path)) setFacts(serving, path, unreadFacts(path, []));
}
