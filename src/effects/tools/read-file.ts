import {closeSync, readSync} from 'node:fs';
import type {Redactor} from '../../policy/redact/redact.ts';
import {failure, isFailure, systemFailure} from '../tool/failure.ts';
import type {Tool, ToolContext, ToolResult} from '../tool/tool.ts';
import {isBinary, openPlace, readAll} from '../workspace/open-file.ts';
import {parseToolPath, type ToolPath} from '../workspace/place.ts';
import {asUtf8, characterStart} from '../workspace/text-encoding.ts';
import {MAX_TEXT} from './cut.ts';
import {largeRange} from './large-file.ts';

/** In bytes. Larger files are read only up to the requested lines. */
const LARGE = 1024 * 1024;
const HEAD = 8192;
const NEWLINE = 10;

interface Asked {
  offset: number;
  limit: number | undefined;
}

export const readFileTool: Tool<'read_file'> = {
  execute: async ({path, offset = 1, limit}, context) => {
    const place = parseToolPath(path, 'read', context.workspace);
    if (isFailure(place)) return place;
    const opened = openPlace(context, place);
    if (isFailure(opened)) return opened;
    try {
      const {fd, stat} = opened;
      if (stat.size > LARGE) return await readLarge(fd, stat.size, place, {offset, limit}, context);
      const bytes = await readAll(fd, stat.size, 2 * LARGE, context.signal);
      return bytes
        ? readSmall(bytes, place, {offset, limit}, context.redact)
        : failure('FAILED', `${place.path} grows; try again`);
    } catch (error) {
      if (context.signal.aborted) throw error;
      return systemFailure(error, place.path);
    } finally {
      closeSync(opened.fd);
    }
  },
};

function readSmall(all: Buffer, place: ToolPath, {offset, limit}: Asked, redact: Redactor): ToolResult {
  const text = asUtf8(all);
  if (!text) return binary(place, all.length);
  const {bytes, note} = text;
  const starts = lineStarts(bytes);
  const total = starts.length;
  if (offset > Math.max(total, 1)) return beyond(place, offset, total);
  const last = Math.min(total, limit === undefined ? total : offset - 1 + limit);
  const range = {from: starts[offset - 1] ?? 0, to: starts[last] ?? bytes.length};
  return {
    success: true,
    path: place.path,
    ...textOf(bytes, range, starts, redact),
    first_line: Math.min(offset, total),
    last_line: last,
    total_lines: total,
    ...(note && {note}),
  };
}

async function readLarge(
  fd: number,
  size: number,
  place: ToolPath,
  asked: Asked,
  context: ToolContext,
): Promise<ToolResult> {
  const head = Buffer.alloc(HEAD);
  if (isBinary(head.subarray(0, readSync(fd, head, 0, HEAD, 0)))) return binary(place, size);
  const range = await largeRange(fd, asked, context.signal);
  if (typeof range === 'number') return beyond(place, asked.offset, range);
  if (typeof range === 'string') return failure('FAILED', `${place.path}: ${range}`);
  const {bytes, note} = asUtf8(range.bytes) ?? {bytes: range.bytes};
  const {lastLine, end, inLine} = range;
  const next = lastLine + 1;
  const done = end >= size || (!inLine && asked.limit !== undefined && next - asked.offset >= asked.limit);
  const how = inLine
    ? `line ${lastLine} is longer than a result; grep shows parts of it`
    : `read_file with offset ${next} shows more`;
  return {
    success: true,
    path: place.path,
    // Hold back what may be the beginning of a cut secret.
    content: inLine ? context.redact.stream().push(bytes.toString()) : bytes.toString(),
    first_line: asked.offset,
    last_line: lastLine,
    file_bytes: size,
    ...(!done && {left_out: {offset: next, bytes: size - end, how}}),
    ...(note && {note}),
  };
}

function binary(place: ToolPath, size: number): ToolResult {
  return failure('FAILED', `${place.path} is binary (${size} bytes), not text`);
}

function beyond(place: ToolPath, offset: number, total: number): ToolResult {
  return failure('FAILED', `${place.path} has ${total} lines; offset ${offset} is beyond them`);
}

/** Offset of each line. Text after the last newline counts as a line only if it is not empty. */
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

/** Text of a range. A long one is cut to its first and last lines, with instructions for the rest. */
function textOf(
  bytes: Buffer,
  {from, to}: Range,
  starts: readonly number[],
  redact?: Redactor,
): {content: string; left_out?: unknown} {
  if (to - from <= MAX_TEXT) return {content: decode(bytes, from, to)};
  const half = MAX_TEXT / 2;
  const first = lineAt(starts, from + half);
  const last = lineAt(starts, to - half - 1) + 1;
  // Lines longer than half a result are cut themselves; no range of lines shows their rest.
  const headEnd = start(starts, first) > from ? start(starts, first) : characterStart(bytes, from + half);
  const tailStart = start(starts, last, to) < to ? start(starts, last, to) : characterStart(bytes, to - half);
  const inLine = headEnd !== start(starts, first) || tailStart !== start(starts, last, to);
  if (inLine && redact) {
    // Redact before cutting: half a secret is not recognised.
    const whole = decode(bytes, from, to);
    const redacted = redact.text(whole);
    if (redacted !== whole) {
      const left = Buffer.from(redacted);
      return textOf(left, {from: 0, to: left.length}, [0]);
    }
  }
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

function decode(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('utf8', from, to);
}
