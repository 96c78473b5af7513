/** One changed range: these bytes of the old text became those of the new one. */
export interface ChangedRange {
  at: number;
  removed: number;
  inserted: Buffer;
}

/** Compare in steps of this size first: files are long and changes are short. */
const STEP = 4_096;
/** After a change, both texts continue alike within so many lines, for at least so many bytes. */
const NEAR_LINES = 6;
const ALIKE = 48;
const MOST_RANGES = 16;
const NEWLINE = 10;

/**
 * The ranges in which two texts differ, in order. A session changes in its header and at its end: two short ranges, not everything
 * between them.
 */
export function changedRanges(before: Buffer, after: Buffer): ChangedRange[] {
  const ranges: ChangedRange[] = [];
  let [a, b] = [0, 0];
  for (;;) {
    const head = commonHead(before, after, a, b);
    a += head;
    b += head;
    if (a === before.length && b === after.length) return ranges;
    const tail = commonTail(before, after, a, b);
    const [endA, endB] = [before.length - tail, after.length - tail];
    const next = ranges.length < MOST_RANGES ? alikeAgain(before, after, a, b, endA, endB) : undefined;
    const [toA, toB] = next ?? [endA, endB];
    ranges.push({at: a, removed: toA - a, inserted: after.subarray(b, toB)});
    if (!next) return ranges;
    [a, b] = next;
  }
}

/** The text after these changes. */
export function withRanges(before: Buffer, ranges: readonly ChangedRange[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const range of ranges) {
    parts.push(before.subarray(at, range.at), range.inserted);
    at = range.at + range.removed;
  }
  return Buffer.concat([...parts, before.subarray(at)]);
}

function commonHead(before: Buffer, after: Buffer, a: number, b: number): number {
  const most = Math.min(before.length - a, after.length - b);
  let head = 0;
  while (head + STEP <= most && isSame(before, after, a + head, b + head, STEP)) head += STEP;
  while (head < most && before[a + head] === after[b + head]) head++;
  return head;
}

function commonTail(before: Buffer, after: Buffer, a: number, b: number): number {
  const most = Math.min(before.length - a, after.length - b);
  let tail = 0;
  while (tail + STEP <= most && isSame(before, after, before.length - tail - STEP, after.length - tail - STEP, STEP))
    tail += STEP;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return tail;
}

/** The nearest places after a difference from which both texts go on alike. Undefined: none is near. */
function alikeAgain(
  before: Buffer,
  after: Buffer,
  a: number,
  b: number,
  endA: number,
  endB: number,
): [number, number] | undefined {
  if (Math.max(endA - a, endB - b) < ALIKE * 4) return undefined;
  const [startsA, startsB] = [lineStarts(before, a, endA), lineStarts(after, b, endB)];
  for (let sum = 1; sum < startsA.length + startsB.length - 1; sum++)
    for (const [i, toA] of startsA.entries()) {
      const toB = startsB[sum - i];
      if (toB === undefined || Math.min(endA - toA, endB - toB) < ALIKE) continue;
      if (isSame(before, after, toA, toB, ALIKE)) return [toA, toB];
    }
  return undefined;
}

/** A place, and the next lines that begin after it. */
function lineStarts(text: Buffer, from: number, end: number): number[] {
  const starts = [from];
  for (let at = from; starts.length <= NEAR_LINES; ) {
    at = text.indexOf(NEWLINE, at) + 1;
    if (at === 0 || at >= end) break;
    starts.push(at);
  }
  return starts;
}

function isSame(before: Buffer, after: Buffer, a: number, b: number, length: number): boolean {
  return before.compare(after, b, b + length, a, a + length) === 0;
}
