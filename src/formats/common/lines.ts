import type {Place} from './diagnostic.ts';

/** Start offsets of all lines, after a BOM. A line ends with "\n"; a "\r" before it belongs to the line end. */
export function lineStarts(text: string): number[] {
  const starts = [text.charCodeAt(0) === 0xfeff ? 1 : 0];
  for (let i = text.indexOf('\n'); i !== -1; i = text.indexOf('\n', i + 1)) starts.push(i + 1);
  return starts;
}

export function placeAt(starts: readonly number[], offset: number): Place {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if ((starts[mid] ?? 0) <= offset) low = mid;
    else high = mid - 1;
  }
  return {line: low + 1, column: Math.max(1, offset - (starts[low] ?? 0) + 1)};
}

/** Like `placeAt` for an offset near the start, without scanning the rest of the text. */
export function placeNear(text: string, offset: number): Place {
  let start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  let line = 1;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', end + 1)) {
    start = end + 1;
    line++;
  }
  return {line, column: Math.max(1, offset - start + 1)};
}

/** Line end of the first line; "\n" if there is none. */
export function lineEnd(text: string): '\n' | '\r\n' {
  const first = text.indexOf('\n');
  return first > 0 && text.charCodeAt(first - 1) === 13 ? '\r\n' : '\n';
}

export interface Splice {
  start: number;
  end: number;
  insert: string;
}

/** Splices may be in any order but must not overlap; insertions at the same place keep their order. */
export function splice(text: string, splices: readonly Splice[]): string {
  const ordered = [...splices].sort((a, b) => a.start - b.start || a.end - b.end);
  let out = '';
  let at = 0;
  for (const s of ordered) {
    if (s.start < at) throw new RangeError(`overlapping edits at offset ${s.start}`);
    out += text.slice(at, s.start) + s.insert;
    at = s.end;
  }
  return out + text.slice(at);
}

/** Like `text.startsWith(start, at)`, but ten times as fast for long texts: V8 compares slices by memcmp. */
export function startsWithText(text: string, start: string, at = 0): boolean {
  return text.slice(at, at + start.length) === start;
}
