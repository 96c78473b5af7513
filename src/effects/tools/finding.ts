import {inBoundedTime} from './bounded-time.ts';
import {MOST_TEXT} from './cut.ts';
import {failure} from './failure.ts';
import {type LineMatches, type LineSearch, searchText, type TextPart} from './search-lines.ts';
import type {ToolFailure} from './tool.ts';

/** Text that is searched in one go, and how long that may take before it is taken for the pattern's fault. */
const BATCH = 512 * 1024;
const LONGEST = 250;
const LONGEST_IN_ALL = 3000;
const NEWLINE = 10;

/** Files that are searched for lines, some at a time, so that no pattern can hold up the daemon. */
export interface Finding {
  /** `bytes` may change afterwards. */
  add: (path: string, bytes: Buffer) => Promise<void> | undefined;
  /** Whether there is enough, or it failed. */
  full: () => boolean;
  end: () => Promise<{matches: number; files: number; content: string; full: boolean} | ToolFailure>;
}

export function finding(search: LineSearch, most: number, signal: AbortSignal): Finding {
  const lines: string[] = [];
  const files = new Set<string>();
  const left = {matches: most, bytes: MOST_TEXT};
  let slow = 0;
  let failed: ToolFailure | undefined;
  let batch: TextPart[] = [];
  let size = 0;
  const full = () => failed !== undefined || left.matches <= 0 || left.bytes <= 0;

  const take = (path: string, found: LineMatches) => {
    if (found.count === 0) return;
    if (search.context > 0 && lines.length > 0) lines.push('--');
    for (const line of found.lines) lines.push(line);
    files.add(path);
    left.matches -= found.count;
    left.bytes -= found.bytes;
  };
  /** All of them at once, which nearly always is quick. */
  const run = (): Promise<void> | undefined => {
    const parts = batch;
    batch = [];
    size = 0;
    if (full()) return undefined;
    const done = inBoundedTime(() => {
      const rest = {...left};
      return parts.map(part => {
        const found = searchText(search, part, rest);
        rest.matches -= found.count;
        rest.bytes -= found.bytes;
        return found;
      });
    }, LONGEST);
    if (!done) return oneByOne(parts);
    done.result.forEach((found, i) => {
      take(parts[i]?.path ?? '', found);
    });
    return undefined;
  };
  /** Perhaps the machine was busy: this shows whether it is the pattern, and on which file. */
  const oneByOne = async (parts: readonly TextPart[]) => {
    for (const part of parts) {
      await new Promise(setImmediate);
      if (signal.aborted || full()) return;
      const began = performance.now();
      const done = inBoundedTime(() => searchText(search, part, left), LONGEST);
      slow += performance.now() - began;
      if (done) take(part.path, done.result);
      if (!done || slow > LONGEST_IN_ALL)
        failed = failure('TIMEOUT', `the pattern takes too long on ${part.path}; avoid repetitions within repetitions`);
    }
  };
  const addParts = async (path: string, parts: Iterable<{bytes: Buffer; firstLine: number}>) => {
    for (const {bytes, firstLine} of parts) {
      batch.push({path, text: bytes.toString(), firstLine});
      await run();
      await new Promise(setImmediate);
      if (full() || signal.aborted) return;
    }
  };

  return {
    add: (path, bytes) => {
      if (search.literal && !bytes.includes(search.literal)) return undefined;
      if (bytes.length > BATCH) return addParts(path, partsOf(bytes));
      batch.push({path, text: bytes.toString(), firstLine: 1});
      size += bytes.length;
      return size >= BATCH ? run() : undefined;
    },
    full,
    end: async () => {
      await run();
      return failed ?? {matches: most - left.matches, files: files.size, content: lines.join('\n'), full: full()};
    },
  };
}

/** A long file in pieces of whole lines. */
function* partsOf(bytes: Buffer): Generator<{bytes: Buffer; firstLine: number}> {
  let firstLine = 1;
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, Math.min(from + BATCH, bytes.length));
    const part = bytes.subarray(from, newline < 0 ? bytes.length : newline + 1);
    yield {bytes: part, firstLine};
    for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) firstLine++;
    from += part.length;
  }
}
