import {isAscii} from 'node:buffer';
import type {Redactor} from '../../policy/redact/redact.ts';
import {failure} from '../tool/failure.ts';
import {type Before, type LineMatches, type LineSearch, searchText, type TextPart} from '../tool/search-lines.ts';
import type {ToolFailure} from '../tool/tool.ts';
import {isBinary} from '../workspace/open-file.ts';
import {fromUtf16} from '../workspace/text-encoding.ts';
import {inBoundedTime} from './bounded-time.ts';
import {MAX_TEXT} from './cut.ts';

/**
 * Target time for one batch, in milliseconds; the batch size adapts to the last batch. Setting up a time limit is too
 * expensive for small batches, and large batches block others.
 */
const GOAL = 4;
const FIRST_BATCH = 256 * 1024;
const SMALLEST_BATCH = 64 * 1024;
const LARGEST_BATCH = 4 * 1024 * 1024;
/** Size of the pieces in which larger files are searched. */
export const PIECE = 256 * 1024;
/** A batch that takes longer is blamed on the pattern. */
const BATCH_TIMEOUT_MS = 250;
const TOTAL_TIMEOUT_MS = 3000;
const MOST_TRIES = 20;
const NEWLINE = 10;
const MARK = Buffer.from('\ufeff');

/** Searches files in batches with a time limit, so that no pattern can block the daemon. */
export interface LineFinder {
  /** Add a whole file. The caller may reuse `bytes` afterwards. `pathOf` is called only if the file may match. */
  add: (bytes: Buffer, pathOf: () => string) => Promise<void> | undefined;
  addPieces: (pieces: Iterable<Buffer>, path: string) => Promise<void>;
  /** Whether there are enough matches, or the search failed. */
  full: () => boolean;
  /** `binary`: number of binary files that may match. */
  end: () => Promise<{matches: number; files: number; content: string; full: boolean; binary: number} | ToolFailure>;
}

export function makeLineFinder(search: LineSearch, most: number, signal: AbortSignal, redact: Redactor): LineFinder {
  const lines: string[] = [];
  const files = new Set<string>();
  const left = {matches: most, bytes: MAX_TEXT};
  let slow = 0;
  let binary = 0;
  let failed: ToolFailure | undefined;
  let batch: TextPart[] = [];
  let size = 0;
  let enough = FIRST_BATCH;
  const full = () => failed !== undefined || left.matches <= 0 || left.bytes <= 0;

  /** State after the last match shown. */
  let last = {path: '', shown: 0, openUntil: 0};
  const take = (path: string, found: LineMatches) => {
    if (found.lines.length === 0) return;
    const follows = last.path === path && found.first === last.shown + 1;
    if (search.context > 0 && lines.length > 0 && !follows) lines.push('--');
    for (const line of found.lines) lines.push(line);
    last = {path, shown: found.shown, openUntil: found.openUntil};
    files.add(path);
    left.matches -= found.count;
    left.bytes -= found.bytes;
  };
  /** Search the whole batch at once, which nearly always is fast. */
  const run = (): Promise<void> | undefined => {
    const parts = batch;
    const characters = size;
    batch = [];
    size = 0;
    if (full() || parts.length === 0) return undefined;
    const began = performance.now();
    const done = inBoundedTime(() => {
      const rest = {...left};
      return parts.map(part => {
        const found = searchText(search, part, rest, redact);
        rest.matches -= found.count;
        rest.bytes -= found.bytes;
        return found;
      });
    }, BATCH_TIMEOUT_MS);
    if (!done) return oneByOne(parts);
    const quick = (characters * GOAL) / (performance.now() - began);
    enough = Math.max(SMALLEST_BATCH, Math.min(quick, enough * 4, LARGEST_BATCH));
    done.result.forEach((found, i) => {
      take(parts[i]?.path ?? '', found);
    });
    return undefined;
  };
  /** Search part by part after a timeout: tells a busy machine from a slow pattern, and finds the file. */
  const oneByOne = async (parts: readonly TextPart[]) => {
    for (const part of parts) {
      let took = 0;
      // Count CPU time: the pattern fails only when it has used up the time itself.
      for (let tries = 1, done: {result: LineMatches} | undefined; !done && !failed; tries++) {
        await new Promise(setImmediate);
        if (signal.aborted || full()) return;
        const began = cpu();
        done = inBoundedTime(() => searchText(search, part, left, redact), BATCH_TIMEOUT_MS);
        took += cpu() - began;
        if (done) take(part.path, done.result);
        if ((!done && (took >= BATCH_TIMEOUT_MS || tries === MOST_TRIES)) || slow + took > TOTAL_TIMEOUT_MS)
          failed = failure(
            'TIMEOUT',
            `the pattern takes too long on ${part.path}; avoid repetitions within repetitions`,
          );
      }
      slow += took;
    }
  };
  const isCandidate = (bytes: Buffer) => !search.literals || search.literals.some(text => bytes.includes(text));
  const push = (path: string, bytes: Buffer, firstLine: number, before?: Before) => {
    batch.push({path, text: textOf(bytes, firstLine === 1), firstLine, ...(before && {before})});
    size += bytes.length;
  };

  return {
    add: (raw, pathOf) => {
      const bytes = asBytesOfUtf8(raw);
      if (!isCandidate(bytes)) return undefined;
      if (isBinary(bytes)) binary++;
      else push(pathOf(), bytes, 1);
      return size >= enough ? run() : undefined;
    },
    addPieces: async (pieces, path) => {
      let firstLine = 1;
      let tail: readonly string[] = [];
      for (const bytes of pieces) {
        if (firstLine === 1 && isBinary(bytes)) {
          binary++;
          return;
        }
        const {shown, openUntil} = last.path === path ? last : {shown: 0, openUntil: 0};
        if (openUntil >= firstLine || isCandidate(bytes)) {
          push(path, bytes, firstLine, {tail, shown, openUntil});
          await run();
        }
        if (search.context > 0) tail = [...tail, ...lastLines(bytes, search.context)].slice(-search.context);
        await new Promise(setImmediate);
        if (full() || signal.aborted) return;
        firstLine += linesIn(bytes);
      }
    },
    full,
    end: async () => {
      await run();
      return (
        failed ?? {matches: most - left.matches, files: files.size, content: lines.join('\n'), full: full(), binary}
      );
    },
  };
}

/** Decoding ASCII as latin1 is several times as fast. Drops the byte order mark. */
function textOf(bytes: Buffer, first: boolean): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return bytes.toString('utf8', first && bytes.subarray(0, MARK.length).equals(MARK) ? MARK.length : 0);
}

function asBytesOfUtf8(bytes: Buffer): Buffer {
  const wide = fromUtf16(bytes);
  return wide === undefined ? bytes : Buffer.from(wide);
}

function lastLines(bytes: Buffer, most: number): string[] {
  let from = bytes.length - 1;
  for (let i = 0; i < most && from >= 0; i++) from = from === 0 ? -1 : bytes.lastIndexOf(NEWLINE, from - 1);
  const lines = bytes.toString('utf8', from + 1).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function linesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** CPU time of this process, in milliseconds. */
function cpu(): number {
  const {user, system} = process.cpuUsage();
  return (user + system) / 1_000;
}
