import type {Redactor} from '../../policy/redact.ts';
import {cutMiddle} from './cut.ts';

const AROUND = 3;

/** As a diff would show it. */
export function newFile(path: string, content: string): string {
  return cutMiddle(`new file ${path}\n${prefixed('+', linesOf(content))}`);
}

/** From the first line that differs to the last, with some lines around. Redacted before it is cut. */
export function changedFile(path: string, before: string, after: string, redact: Redactor): string {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const from = Math.max(0, head - AROUND);
  const removed = old.slice(head, old.length - tail);
  const added = now.slice(head, now.length - tail);
  const below = old.slice(old.length - tail, old.length - tail + AROUND);
  const place = `@@ from line ${from + 1}: ${removed.length} lines become ${added.length} @@`;
  return cutMiddle(
    redact.text(
      `${path}\n${place}\n${prefixed(' ', old.slice(from, head))}${prefixed('-', removed)}${prefixed('+', added)}${prefixed(' ', below)}`,
    ),
  );
}

/** A last line without newline is another line than one with. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  const last = lines.pop();
  if (last) lines.push(`${last} (no newline at the end)`);
  return lines;
}

function prefixed(sign: string, lines: readonly string[]): string {
  return lines.map(line => `${sign}${line}\n`).join('');
}
