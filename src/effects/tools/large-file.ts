import {readSync} from 'node:fs';
import {pace} from '../tool/pace.ts';
import {characterStart} from '../workspace/text-encoding.ts';
import {MAX_TEXT} from './cut.ts';

const CHUNK = 256 * 1024;
const MOST_SKIPPED = 1024 * 1024 * 1024;
const NEWLINE = 10;

/** A range of lines of a large file, as many as fit into a result. */
export interface LargeRange {
  bytes: Buffer;
  lastLine: number;
  /** File offset after the last byte. */
  end: number;
  /** Whether a line was cut. */
  inLine: boolean;
}

/** Read the file only up to these lines. A number: `offset` is beyond this many lines. A string: why it failed. */
export async function largeRange(
  fd: number,
  {offset, limit}: {offset: number; limit: number | undefined},
  signal: AbortSignal,
): Promise<LargeRange | number | string> {
  const from = await startOf(fd, offset, signal);
  if (typeof from !== 'object') return from;
  const buffer = Buffer.allocUnsafe(MAX_TEXT + 1);
  const read = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from.at));
  let lines = 0;
  let end = 0;
  while (end < read.length && lines < (limit ?? Number.POSITIVE_INFINITY)) {
    const newline = read.indexOf(NEWLINE, end);
    const next = newline < 0 ? read.length : newline + 1;
    // An incomplete line is left to the next call, unless it is the first.
    if (next > MAX_TEXT || (newline < 0 && read.length > MAX_TEXT)) break;
    lines++;
    end = next;
  }
  const inLine = lines === 0 && read.length > 0;
  if (inLine) end = characterStart(read, MAX_TEXT);
  return {bytes: read.subarray(0, end), lastLine: offset + Math.max(lines, 1) - 1, end: from.at + end, inLine};
}

/** File offset of a line; a number: how many lines there are instead. */
async function startOf(fd: number, wanted: number, signal: AbortSignal): Promise<{at: number} | number | string> {
  const breathe = pace(signal);
  const chunk = Buffer.allocUnsafe(CHUNK);
  let line = 1;
  let open = false;
  for (let at = 0; ; ) {
    if (line === wanted) return {at};
    if (at > MOST_SKIPPED) return `line ${wanted} is too far from its beginning; grep finds lines in it`;
    const read = readSync(fd, chunk, 0, chunk.length, at);
    if (read === 0) return open ? line : line - 1;
    let end = 0;
    for (let next = chunk.indexOf(NEWLINE); next >= 0 && next < read; next = chunk.indexOf(NEWLINE, end)) {
      end = next + 1;
      if (++line === wanted) break;
    }
    if (line === wanted) {
      // After the last newline of the file there is no further line.
      const more = end < read || readSync(fd, chunk, 0, 1, at + end) > 0;
      return more ? {at: at + end} : line - 1;
    }
    open = end < read;
    at += read;
    await breathe();
  }
}

/** Read a file in pieces of whole lines, about `piece` bytes each; longer lines stay whole. `head`: its first bytes. */
export function* wholeLines(fd: number, head: Buffer, size: number, piece: number): Generator<Buffer> {
  let rest = Buffer.from(head);
  for (let at = head.length; ; ) {
    const end = rest.lastIndexOf(NEWLINE) + 1;
    if (end > 0) yield rest.subarray(0, end);
    const left = rest.subarray(end);
    // For a long line, double the buffer: fixed steps would copy in quadratic time.
    const next = Buffer.allocUnsafe(left.length + Math.max(piece, left.length));
    left.copy(next);
    const read = at < size ? readSync(fd, next, left.length, Math.min(next.length - left.length, size - at), at) : 0;
    if (read === 0) {
      if (left.length > 0) yield left;
      return;
    }
    at += read;
    rest = next.subarray(0, left.length + read);
  }
}
