import {unreadFacts} from '../../check/facts.ts';
import {kindOf} from '../../formats/common/key.ts';
import {type Cursor, cursorPath, type Position} from '../../formats/cursor-file.ts';
import {
  closeInbox,
  headOf,
  isIdentified,
  marksOf,
  type OpenInbox,
  openInbox,
  reaches,
  readLines,
} from '../../home/inbox-lines.ts';
import {appendRejected} from '../../home/rejected-lines.ts';
import {removeUnpacked} from '../../home/unpack-inbox.ts';
import {reportProblems, setFacts} from '../../loop/accept-version.ts';
import {statSignature} from '../../loop/file-state.ts';
import {HALF_SAVED_MS} from '../../loop/half-saved.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {LookOutcome} from '../../loop/queue.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {type InboxReading, setSaved} from '../state/inboxes.ts';
import type {With} from '../state/parts.ts';
import {firstCursor} from './first-cursor.ts';
import {advanceCursor, type InboxBatch, positionAfter, readBatch, withoutDeliveredKeys} from './inbox-batch.ts';
import {readCursor} from './inbox-cursors.ts';
import {followInbox, followMissingInbox} from './inbox-follow.ts';
import {dropRotated, hasRotatedToRead, isCursorSaved, isTakenOver, openRotatedFile} from './inbox-rotated.ts';
import {showBlocked, showUnreadable} from './inbox-show.ts';
import {finishedAt, unseenInboxes} from './rotated-files.ts';

/** How long to wait for zero bytes to be overwritten. */
const HOLE_MS = 10_000;
/** How long the saved cursor may lag. After a crash, lines are read again but not delivered twice. */
const CURSOR_MS = 2_000;
/** How long a writer may append to a file after its rename. */
const OPEN_MS = 30_000;
const UNFINISHED_MS = 600_000;
const WAIT_MS = 500;
/** Interval of progress reports. */
const PROGRESS_MS = 2_000;
/** With more bytes to read, progress is reported from the start. */
const LARGE = 512 * 1024;
/** Lines delivered at a time. */
const MOST_LINES = 2_000;

/** inbox/NAME.jsonl: raw lines, read from the cursor on. */
export function inboxReconciler(daemon: With<'files' | 'reports' | 'current' | 'mail' | 'inboxes'>): Reconciler {
  return {
    kind: 'inbox',
    look: path => lookAtInbox(daemon, path),
    started: () => unseenInboxes(daemon),
    tick: () => unseenInboxes(daemon),
  };
}

/**
 * Turn some unread lines of an inbox into letters. Once they are delivered, the inbox is looked at again, until all is
 * read. The cost depends only on what was appended.
 */
async function lookAtInbox(
  daemon: With<'files' | 'reports' | 'current' | 'mail' | 'inboxes'>,
  path: string,
): Promise<LookOutcome> {
  const {files} = daemon;
  const reading = daemon.inboxes.readingOf(path);
  if (files.phase.loading) {
    remember(files, path, '');
    return undefined;
  }
  if (reading.underWay > 0) return undefined;
  if (files.journal.unfinished()) return {after: WAIT_MS};
  let file: OpenInbox | undefined;
  try {
    file = openInbox(files.disk, path);
  } catch (error) {
    return showUnreadable(daemon, path, error as NodeJS.ErrnoException);
  }
  try {
    if (!loadCursor(files, reading)) return undefined;
    if (!file) return await lookAtMissing(daemon, reading);
    remember(files, path, statSignature(file.stat));
    const wait = await followInbox(daemon, reading, file);
    if (wait > 0) return {after: wait};
    const before = await readRotated(daemon, reading);
    return before ? before.outcome : await readOn(daemon, reading, file, reading.cursor);
  } finally {
    if (file) closeInbox(file);
  }
}

/** Returns false if the cursor file has errors, which are shown as a problem. */
function loadCursor(files: HomeFiles, reading: InboxReading): boolean {
  if (reading.cursor) return true;
  const {cursor, text, wrong} = readCursor(files.disk, reading.path);
  reading.waitsFor = wrong ? `${cursorPath(reading.path)} has errors` : undefined;
  if (wrong) return false;
  setSaved(reading, text, cursor);
  reading.counted = !cursor;
  reading.lines.incomplete = cursor !== undefined;
  if (cursor) reading.cursor = cursor;
  return true;
}

/** Read rotated files to their end first. Undefined: the current file is next. */
async function readRotated(
  daemon: With<'files' | 'reports' | 'current' | 'mail' | 'inboxes'>,
  reading: InboxReading,
): Promise<{outcome: LookOutcome} | undefined> {
  const {files} = daemon;
  for (const at of reading.cursor?.rotated ?? []) {
    const {name = '', file} = (await openRotatedFile(files.disk, reading, at)) ?? {};
    try {
      const path = `inbox/${name}`;
      const isInbox = kindOf(path) !== undefined;
      // A file that was renamed to another inbox is read as that inbox from here on.
      if (isInbox && !isTakenOver(daemon.inboxes.get(path), at)) continue;
      if (!file || isInbox) dropRotated(reading, at);
      else {
        const outcome = await readOn(daemon, reading, file, at);
        const now = reading.cursor?.rotated?.find(each => each.generation === at.generation);
        if (reading.underWay > 0 || now?.offset !== at.offset) return {outcome};
        if (reading.waitsFor !== undefined) return {outcome};
        // A last line without newline may still be completed.
        const age = files.disk.clock.now() - Number(file.stat.mtimeMs);
        if (age > (at.offset === file.size ? OPEN_MS : UNFINISHED_MS)) {
          dropRotated(reading, at, finishedAt(file, name));
          removeUnpacked(files.disk, name);
        }
      }
    } finally {
      if (file) closeInbox(file);
    }
  }
  return undefined;
}

/** Whether the cursor file identifies the file that has this position, by content too. */
function isClaimed({claimed}: InboxReading, {generation}: Position): boolean {
  return claimed.has(generation);
}

/**
 * Save the cursor before the first line of a file is delivered, with a digest of its beginning. After a crash or a rotation, the file is
 * found by that, so its lines keep their ids and no session takes them twice.
 */
function claim(files: HomeFiles, reading: InboxReading, at: Position, head: string): undefined {
  if (!isIdentified(at) && reading.cursor) reading.cursor = advanceCursor(reading.cursor, {...at, head});
  // The cursor file's own look names the inbox again.
  saveCursor(files, reading);
  return undefined;
}

/** Deliver the next lines of a file; if there are none, save the cursor. */
async function readOn(
  daemon: With<'files' | 'reports' | 'current' | 'mail' | 'inboxes'>,
  reading: InboxReading,
  file: OpenInbox,
  at: Position | undefined,
): Promise<LookOutcome> {
  const {files} = daemon;
  if (!at) return undefined;
  const isMain = at.generation === reading.cursor?.generation;
  const hole = inHole(reading, at.offset) ? reading.hole : undefined;
  const waited = hole !== undefined && files.disk.clock.monotonic() - hole.since > HOLE_MS;
  const holes = waited || files.disk.clock.now() - Number(file.stat.mtimeMs) > HOLE_MS;
  const unfinished = reading.unfinished?.from === at.offset && isMain ? reading.unfinished : undefined;
  const chunk = await readLines(file, at.offset, {scanned: unfinished?.to ?? at.offset, holes, most: MOST_LINES});
  if (isMain) reading.unfinished = chunk.lines.length === 0 ? {from: at.offset, to: chunk.scanned} : undefined;
  // Take the marks before yielding, so that they are from the same file content as the lines.
  const marks = marksOf(file.file, chunk.end);
  if (!reaches(file, chunk.end)) return {after: 1};
  if (chunk.lines.length > 0 && !isClaimed(reading, at)) return claim(files, reading, at, headOf(file, chunk.end));
  const batch = await readBatch(daemon, reading, at, chunk.lines);
  showBlocked(daemon, reading, batch.blocked);
  if (batch.lines > 0) {
    if (!inHole(reading, batch.end)) reading.hole = undefined;
    const next = positionAfter(at, batch, batch.end === chunk.end ? marks : marksOf(file.file, batch.end));
    if (chunk.more) reportProgress(daemon, reading, at, file.size);
    await deliver(daemon, reading, batch, next, chunk.more && !batch.blocked);
    return undefined;
  }
  if (!isMain) return undefined;
  finish(daemon, reading, batch.blocked !== undefined);
  if (chunk.hole && !batch.blocked) {
    if (!hole) reading.hole = {at: at.offset, to: file.size, since: files.disk.clock.monotonic()};
    return again(files, HOLE_MS / 10);
  }
  return hasRotatedToRead(reading) ? again(files, WAIT_MS) : undefined;
}

/** Report progress at once for a large inbox, and periodically for a slow one. */
function reportProgress(
  {reports, files}: With<'files' | 'reports'>,
  reading: InboxReading,
  {line, offset}: Position,
  size: number,
): void {
  const {report} = reports;
  const {disk} = files;
  const {clock} = disk;
  const now = clock.monotonic();
  reading.progress ??= {at: size - offset > LARGE ? Number.NEGATIVE_INFINITY : now, reported: false};
  if (now - reading.progress.at < PROGRESS_MS) return;
  reading.progress = {at: now, reported: true};
  report({event: 'reading', inbox: reading.path, lines: line, percent: Math.floor((100 * offset) / size)});
}

/** Whether the offset is in the part of the file that existed when zero bytes were found. */
function inHole({hole}: InboxReading, offset: number): boolean {
  return hole !== undefined && offset >= hole.at && offset < hole.to;
}

/** Look again after `ms`, unless the daemon is about to end: then the next start does. */
function again({phase}: HomeFiles, ms: number): LookOutcome {
  const {once, hurry} = phase;
  return once || hurry ? undefined : {after: ms};
}

async function deliver(
  daemon: With<'files' | 'mail' | 'inboxes'>,
  reading: InboxReading,
  {letters: all, rejected}: InboxBatch,
  next: Position,
  more: boolean,
): Promise<void> {
  const {files, mail} = daemon;
  const {path} = reading;
  if (rejected.length > 0) {
    const {rejectedBefore} = reading;
    reading.rejectedBefore = undefined;
    reading.rejectedBefore = await appendRejected(files.disk, path, rejected, rejectedBefore);
  }
  const letters = await withoutDeliveredKeys(daemon, all);
  const letterDelivered = (from?: string, session?: string) => {
    if (from !== undefined && session !== undefined) reading.lastDelivery = {from, session};
    if (--reading.underWay > 0) return;
    reading.cursor = advanceCursor(reading.cursor as Cursor, next);
    if (files.disk.clock.monotonic() - reading.savedAt > CURSOR_MS) saveCursor(files, reading);
    lookAgain(files, path);
  };
  reading.underWay = letters.length + 1;
  const sessions = new Set(letters.map(letter => letter.path));
  for (const session of sessions) {
    if (more) reading.expecting.add(session);
    if (more) mail.expect(session);
  }
  for (const {path: session, letter} of letters) {
    mail.post(session, {...letter, delivered: where => letterDelivered(letter.message.from, where.session)});
  }
  for (const session of sessions) lookAgain(files, session);
  letterDelivered();
}

/** Call when everything is read for now. */
function finish(
  {files, reports, mail}: With<'files' | 'reports' | 'mail'>,
  reading: InboxReading,
  blocked: boolean,
): void {
  for (const session of reading.expecting) {
    mail.expectNoMore(session);
    lookAgain(files, session);
  }
  reading.expecting.clear();
  saveCursor(files, reading);
  if (reading.progress?.reported && !blocked)
    reports.report({event: 'reading', inbox: reading.path, lines: reading.cursor?.line ?? 0, percent: 100});
  reading.progress = undefined;
  const known = files.known.get(reading.path);
  if (known) known.settled = !blocked && isCursorSaved(reading);
  files.looks.lookAgain.delete(reading.path);
  files.phase.unsaved = true;
}

function saveCursor(files: HomeFiles, reading: InboxReading): void {
  if (isCursorSaved(reading)) return;
  reading.savedAt = files.disk.clock.monotonic();
  lookAgain(files, cursorPath(reading.path));
}

/** Look at an inbox whose file is gone, perhaps only for a moment. A renamed file is still read. */
async function lookAtMissing(
  daemon: With<'files' | 'reports' | 'current' | 'mail' | 'inboxes'>,
  reading: InboxReading,
): Promise<LookOutcome> {
  const {files} = daemon;
  const {path} = reading;
  if (!files.known.has(path) && !reading.cursor) {
    const first = await firstCursor(daemon, reading);
    if (!first.rotated) return undefined;
    reading.cursor = first;
    const unseen = await readRotated(daemon, reading);
    return unseen ? unseen.outcome : again(files, WAIT_MS);
  }
  const now = files.disk.clock.monotonic();
  if (reading.changedContent?.signature !== 'gone') reading.changedContent = {signature: 'gone', since: now};
  const waitMs = HALF_SAVED_MS - (now - reading.changedContent.since);
  if (waitMs > 0) return {after: Math.ceil(waitMs)};
  await followMissingInbox(daemon, reading);
  const before = await readRotated(daemon, reading);
  if (before) return before.outcome;
  finish(daemon, reading, false);
  if (hasRotatedToRead(reading)) return again(files, WAIT_MS);
  files.known.delete(path);
  setFacts(files, path, undefined);
  reportProblems(daemon);
  return undefined;
}

/** Remember the signature, so that the scan triggers a look when the file changes. */
function remember(files: HomeFiles, path: string, signature: string): void {
  const isNew = !files.known.has(path);
  files.known.set(path, {signature, blob: '', good: undefined, ignored: true, settled: false});
  if (isNew || !files.index.facts(path)) setFacts(files, path, unreadFacts(path, []));
}
