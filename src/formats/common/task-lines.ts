// Lexical rules for single lines of a task file: columns, keys, notes, fences, blocks.

/** `- TIME @who: text` */
export const NOTE = /^-\s+(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)\s+@([A-Za-z0-9][A-Za-z0-9._/@-]*):\s?(.*)$/s;

export function isNoteLine(line: string): boolean {
  return NOTE.test(line);
}

/** Index of the colon after a key that begins at `at`, or -1. */
export function keyEnd(text: string, at: number, end: number): number {
  let i = at;
  for (; i < end; i++) {
    const code = text.charCodeAt(i);
    const letter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
    if (!letter && !(i > at && ((code >= 48 && code <= 57) || code === 45))) break;
  }
  if (i === at || text.charCodeAt(i) !== 58 || i >= end) return -1;
  return i + 1 >= end || text.charCodeAt(i + 1) <= 32 ? i : -1;
}

/** Text of a heading without closing #s. */
export function headingText(text: string): string {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (end > 0 && trimmed.charCodeAt(end - 1) === 35) end--;
  if (end === trimmed.length) return trimmed;
  return end === 0 || trimmed.charCodeAt(end - 1) <= 32 ? trimmed.slice(0, end).trimEnd() : trimmed;
}

/** A thematic break: three or more dashes and nothing else. */
export function isRule(text: string, at: number, end: number): boolean {
  let dashes = 0;
  for (let i = at; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === 45) dashes++;
    else if (code !== 32 && code !== 9) return false;
  }
  return dashes >= 3;
}

/** Other bullets, numbers, or a dash without a space, before a box. */
const LOOKALIKE = /^(?:[*+]\s+|-|\d{1,4}[.)]\s+)\[[ _/xX!-]?\](?:\s|$)/;

/** Whether a line was perhaps meant as a task. */
export function isLookalike(text: string, at: number, end: number): boolean {
  return LOOKALIKE.test(text.slice(at, Math.min(end, at + 12)));
}

/** Mark of a code fence that opens at `from`; undefined if there is none. */
export function fenceMark(text: string, from: number, end: number): string | undefined {
  const char = text[from] ?? '';
  let at = from;
  while (at < end && text[at] === char) at++;
  if (at - from < 3) return undefined;
  return char === '`' && text.slice(at, end).includes('`') ? undefined : text.slice(from, at);
}

export function closesFence(text: string, from: number, end: number, mark: string): boolean {
  let at = from;
  while (at < end && text[at] === mark[0]) at++;
  return at - from >= mark.length && text.slice(at, end).trim() === '';
}

export function columnOf(line: string): number {
  let column = 0;
  for (let i = 0; i < line.length; i++) {
    const code = line.charCodeAt(i);
    if (code === 32) column++;
    else if (code === 9) column += 4 - (column % 4);
    else break;
  }
  return column;
}

/** Remove white space up to `column`. */
export function dedent(line: string, column: number): string {
  let at = 0;
  for (let width = 0; at < line.length && width < column; at++) {
    const code = line.charCodeAt(at);
    if (code === 32) width++;
    else if (code === 9) width += 4 - (width % 4);
    else break;
  }
  return line.slice(at);
}
