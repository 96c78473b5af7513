import {isUtf8} from 'node:buffer';
import {formatPatch, OMIT_HEADERS, structuredPatch} from 'diff';
import type {Redactor} from '../../policy/redact/redact.ts';
import {isBinary} from '../workspace/open-file.ts';

const AROUND = 3;
/** Maximum number of edits. Beyond it, or in longer texts, one hunk covers everything that differs. */
const MOST_EDITS = 500;
const MAX_DIFFED_TEXT = 4 * 1024 * 1024;
const NEWLINE = 10;

/**
 * Complete unified diff without secrets: a person decides on all of it. Deterministic, however fast the machine is.
 * `before`: current content; undefined: no file; a number: size in bytes of a file that was not read.
 */
export function diffOf(path: string, before: Buffer | number | undefined, text: string, redact: Redactor): string {
  // Redact before diffing: a multi-line secret is not recognised once each line has a prefix.
  const after = redact.text(text);
  const header = `--- ${before === undefined ? '/dev/null' : path}\n+++ ${path}\n`;
  if (before === undefined) return after === '' ? `${header}(the new file is empty)\n` : header + hunks('', after);
  if (typeof before === 'number' || isBinary(before) || !isUtf8(before)) {
    const size = typeof before === 'number' ? before : before.length;
    const what = typeof before === 'number' ? 'too large to be shown' : isBinary(before) ? 'binary' : 'not UTF-8 text';
    const note = `(what is there now is ${what}: ${size} bytes; all of it is replaced by ${Buffer.byteLength(text)} bytes)\n`;
    return header + note + (after === '' ? '' : hunks('', after));
  }
  const now = before.toString();
  if (now === text) return `${header}(nothing changes: this is what is there now)\n`;
  const old = redact.text(now);
  return header + (old === after ? '(all that changes is within secrets, which are not shown)\n' : hunks(old, after));
}

function hunks(before: string, after: string): string {
  const patch =
    before === '' || before.length + after.length > MAX_DIFFED_TEXT
      ? undefined
      : structuredPatch('', '', before, after, undefined, undefined, {context: AROUND, maxEditLength: MOST_EDITS});
  return patch ? formatPatch(patch, OMIT_HEADERS) : oneHunk(before, after);
}

/** One hunk from the first line that differs to the last, with context. */
function oneHunk(before: string, after: string): string {
  let head = 0;
  const shorter = Math.min(before.length, after.length);
  while (head < shorter && before[head] === after[head]) head++;
  head = before.lastIndexOf('\n', head - 1) + 1;
  let tail = 0;
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  // Keep whole lines only: the common tail starts after a newline that both texts have.
  const newline = before.indexOf('\n', before.length - tail - 1);
  tail = newline < 0 || tail === 0 ? 0 : before.length - newline - 1;

  let from = head;
  for (let i = 0; i < AROUND && from > 0; i++) from = before.lastIndexOf('\n', from - 2) + 1;
  let to = before.length - tail;
  for (let i = 0; i < AROUND && to < before.length; i++) to = before.indexOf('\n', to) + 1 || before.length;
  const above = prefixed(' ', before.slice(from, head));
  const removed = prefixed('-', before.slice(head, before.length - tail));
  const added = prefixed('+', after.slice(head, after.length - tail));
  const below = prefixed(' ', before.slice(before.length - tail, to));
  const first = countLines(before.slice(0, from)) + 1;
  const range = (lines: number) => `${lines === 0 ? first - 1 : first},${lines}`;
  const kept = above.count + below.count;
  const place = `@@ -${range(kept + removed.count)} +${range(kept + added.count)} @@\n`;
  return place + above.text + removed.text + added.text + below.text;
}

/** Works on bytes: replacing millions of newlines in a string takes seconds. */
function prefixed(sign: string, text: string): {text: string; count: number} {
  if (text === '') return {text: '', count: 0};
  const bytes = Buffer.from(text.endsWith('\n') ? text : `${text}\n\\ No newline at end of file\n`);
  const count = countLines(text);
  const signed = Buffer.allocUnsafe(bytes.length + count);
  let to = 0;
  for (let at = 0, line = 0; at < bytes.length; at++) {
    if ((at === 0 || bytes[at - 1] === NEWLINE) && line++ < count) signed[to++] = sign.charCodeAt(0);
    signed[to++] = bytes[at] ?? 0;
  }
  return {text: signed.toString(), count};
}

function countLines(text: string): number {
  let count = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
