import {createHash} from 'node:crypto';
import {constants} from 'node:fs';
import type {Position} from '../formats/cursor-file.ts';
import type {Clock} from './disk/clock.ts';
import type {Disk, FileStat, OpenFile} from './disk/disk.ts';
import {leadsToWorkspace} from './read.ts';

/** An inbox file that is open for reading. */
export interface OpenInbox {
  file: OpenFile;
  clock: Clock;
  stat: FileStat;
  inode: string;
  size: number;
}

export interface RawLine {
  start: number;
  /** Including the newline. */
  length: number;
  /** Without the line end. Truncated if the line is too long. */
  bytes: Buffer;
  tooLong: boolean;
}

export interface Chunk {
  lines: RawLine[];
  /** The offset of the next line. */
  end: number;
  /** There may be more complete lines. */
  more: boolean;
  /** Found zero bytes: a writer writes out of order, or the disk was full. */
  hole: boolean;
  /** There is no newline between `end` and this offset. */
  scanned: number;
}

const PIECE = 256 * 1024;
/** Longer lines are rejected. */
export const MAX_LINE = 1024 * 1024;
const KEPT = 4 * 1024;
const NEWLINE = 10;

/** Undefined: missing, not a regular file, or in a workspace. */
export function openInbox(disk: Disk, path: string): OpenInbox | undefined {
  let file: OpenFile;
  try {
    file = disk.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
  const stat = file.stat();
  if (stat.isFile() && !leadsToWorkspace(disk, path))
    return {file, clock: disk.clock, stat, inode: `${stat.ino}`, size: Number(stat.size)};
  file.close();
  return undefined;
}

export function closeInbox({file}: OpenInbox): void {
  file.close();
}

interface Reach {
  scanned?: number;
  holes?: boolean;
  most?: number;
}

/**
 * Read complete lines from offset `from`, one piece of the file at a time, and at most `most`. `scanned`: there is no newline before
 * this offset. `holes`: read zero bytes as content instead of stopping at them.
 */
export async function readLines(
  inbox: OpenInbox,
  from: number,
  {scanned = from, holes = false, most = Number.POSITIVE_INFINITY}: Reach = {},
): Promise<Chunk> {
  const {file, size} = inbox;
  if (scanned - from > MAX_LINE) return longLine(inbox, from, scanned);
  const length = Math.min(size - from, Math.max(PIECE, scanned - from + PIECE));
  const bytes = readAt(file, from, length);
  const zero = holes ? -1 : bytes.indexOf(0);
  const usable = zero === -1 ? bytes.length : bytes.lastIndexOf(NEWLINE, zero) + 1;
  const lines: RawLine[] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1 && end < usable; end = bytes.indexOf(NEWLINE, start)) {
    if (lines.length === most) return {lines, end: from + start, more: true, hole: false, scanned: from + start};
    lines.push({start: from + start, length: end + 1 - start, ...content(bytes.subarray(start, end))});
    start = end + 1;
  }
  const more = zero === -1 && from + bytes.length < size;
  if (lines.length === 0 && zero === -1 && more)
    return readLines(inbox, from, {scanned: from + bytes.length, holes, most});
  return {lines, end: from + start, more, hole: zero !== -1, scanned: from + (zero === -1 ? bytes.length : start)};
}

function content(bytes: Buffer): Pick<RawLine, 'bytes' | 'tooLong'> {
  const tooLong = bytes.length > MAX_LINE;
  const ended = bytes.at(-1) === 13 ? bytes.subarray(0, -1) : bytes;
  return {bytes: tooLong ? Buffer.from(ended.subarray(0, KEPT)) : ended, tooLong};
}

/** Find the end of a line that is too long to keep in memory. Yields to the event loop. */
async function longLine({file, size, clock}: OpenInbox, from: number, scanned: number): Promise<Chunk> {
  let at = scanned;
  while (at < size) {
    const bytes = readAt(file, at, Math.min(size - at, 4 * PIECE));
    if (bytes.length === 0) break;
    const end = bytes.indexOf(NEWLINE);
    if (end !== -1) {
      const length = at + end + 1 - from;
      const line = {start: from, length, bytes: readAt(file, from, KEPT), tooLong: true};
      return {lines: [line], end: from + length, more: true, hole: false, scanned: from + length};
    }
    at += bytes.length;
    await clock.nextTurn();
  }
  return {lines: [], end: from, more: false, hole: false, scanned: at};
}

function readAt(file: OpenFile, from: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, length));
  let got = 0;
  for (let n = -1; got < bytes.length && n !== 0; got += n) n = file.read(bytes, got, bytes.length - got, from + got);
  return bytes.subarray(0, got);
}

const HEAD = 256 * 1024;
const TAIL = 4 * 1024;

/** Digests that identify a file that was read up to `offset`: of its beginning, and of the bytes before `offset`. */
export function marksOf(file: OpenFile, offset: number): Pick<Position, 'head' | 'tail'> {
  return {
    head: mark(file, 0, Math.min(offset, HEAD)),
    tail: mark(file, Math.max(0, offset - TAIL), Math.min(offset, TAIL)),
  };
}

function mark(file: OpenFile, from: number, length: number): string {
  return inboxDigest(readAt(file, from, length), length);
}

/** `LENGTH:DIGEST`. `length`: the intended number of bytes. */
export function inboxDigest(bytes: Buffer, length: number): string {
  return `${length}:${createHash('sha1').update(bytes).digest('hex').slice(0, 16)}`;
}

/** Whether the file still has `end` bytes: somebody may have truncated it. */
export function reaches({file}: OpenInbox, end: number): boolean {
  return Number(file.stat().size) >= end;
}

/** Whether this is the file that was read up to this position. It may have grown. True if nothing is known of its content. */
export function isContinued(
  {file, size}: OpenInbox,
  {offset, head, tail}: Pick<Position, 'offset' | 'head' | 'tail'>,
): boolean {
  const length = Number.parseInt(head, 10) || 0;
  if (size < Math.max(offset, length)) return false;
  if (length > 0 && mark(file, 0, length) !== head) return false;
  return offset === 0 || mark(file, Math.max(0, offset - TAIL), Math.min(offset, TAIL)) === tail;
}

/** Whether anything is known of the content of the file at this position. */
export function isIdentified({head}: Pick<Position, 'head'>): boolean {
  return (Number.parseInt(head, 10) || 0) > 0;
}

/** The digest of the first bytes of a file: of `length`, or fewer if that is much. */
export function headOf({file}: OpenInbox, length: number): string {
  return mark(file, 0, Math.min(length, HEAD));
}
