import {isUtf8} from 'node:buffer';
import {isBinary, readPlace} from '../workspace/open-file.ts';
import {placeOf} from '../workspace/place.ts';
import {MOST_TEXT} from './cut.ts';
import {failure, isFailure} from './failure.ts';
import type {Tool} from './tool.ts';

const MOST_BYTES = 32 * 1024 * 1024;
const NEWLINE = 10;

export const readFile: Tool<'read_file'> = {
  execute: async ({path, offset = 1, limit}, context) => {
    const place = placeOf(path);
    if (isFailure(place)) return place;
    const file = await readPlace(context, place, MOST_BYTES);
    if (isFailure(file)) return file;
    const {bytes} = file;
    if (isBinary(bytes)) return failure('FAILED', `${place.path} is binary (${bytes.length} bytes), not text`);

    const starts = lineStarts(bytes);
    const total = starts.length;
    if (offset > Math.max(total, 1))
      return failure('FAILED', `${place.path} has ${total} lines; offset ${offset} is beyond them`);
    const last = Math.min(total, limit === undefined ? total : offset - 1 + limit);
    const range = {from: starts[offset - 1] ?? 0, to: starts[last] ?? bytes.length};
    return {
      success: true,
      path: place.path,
      ...textOf(bytes, range, starts),
      first_line: Math.min(offset, total),
      last_line: last,
      total_lines: total,
      ...(!isUtf8(bytes) && {note: 'it is not UTF-8: what could not be read is shown as \ufffd'}),
    };
  },
};

/** Offset of each line. What follows the last newline is a line only if there is something. */
function lineStarts(bytes: Buffer): number[] {
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    starts.push(at);
    const end = bytes.indexOf(NEWLINE, at);
    at = end < 0 ? bytes.length : end + 1;
  }
  return starts;
}

interface Range {
  from: number;
  to: number;
}

/** The text of a range; if it is long, its first and its last lines, and how to get those between. */
function textOf(bytes: Buffer, {from, to}: Range, starts: readonly number[]): {content: string; left_out?: unknown} {
  if (to - from <= MOST_TEXT) return {content: decode(bytes, from, to)};
  const half = MOST_TEXT / 2;
  const first = lineAt(starts, from + half);
  const last = lineAt(starts, to - half - 1) + 1;
  // Lines longer than that are cut themselves: no range of lines shows the rest of them.
  const headEnd = start(starts, first) > from ? start(starts, first) : character(bytes, from + half);
  const tailStart = start(starts, last, to) < to ? start(starts, last, to) : character(bytes, to - half);
  const inLine = headEnd !== start(starts, first) || tailStart !== start(starts, last, to);
  const offset = first + 1;
  const limit = Math.max(1, last - first);
  const how = inLine
    ? 'lines are longer than a result; grep shows parts of them'
    : `read_file with offset ${offset} and limit ${limit} shows them`;
  const note = inLine ? `… ${tailStart - headEnd} bytes left out …` : `… lines ${offset} to ${last} left out …`;
  return {
    content: `${decode(bytes, from, headEnd)}${inLine ? '\n' : ''}${note}\n${decode(bytes, tailStart, to)}`,
    left_out: {...(!inLine && {offset, limit}), bytes: tailStart - headEnd, how},
  };
}

function start(starts: readonly number[], line: number, none = 0): number {
  return starts[line] ?? none;
}

/** Index of the line that holds this offset. */
function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The beginning of the character at `offset`. */
function character(bytes: Buffer, offset: number): number {
  let at = offset;
  while (at > 0 && at > offset - 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}

const decoder = new TextDecoder();

function decode(bytes: Buffer, from: number, to: number): string {
  return decoder.decode(bytes.subarray(from, to));
}
