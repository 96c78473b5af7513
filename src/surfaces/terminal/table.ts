import stringWidth from 'string-width';
import {NARROW} from './wrap.ts';

/** Draws a table. `render` may colour a cell; it does not affect the width. */
function drawTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  render: (text: string, column: number) => string = text => text,
): string {
  const widths = head.map((title, i) => Math.max(textWidth(title), ...rows.map(row => textWidth(row[i] ?? ''))));
  const line = (left: string, middle: string, right: string) =>
    left + widths.map(width => '─'.repeat(width + 2)).join(middle) + right;
  const cells = (row: readonly string[], paint: (text: string, column: number) => string) =>
    `│${row.map((cell, i) => ` ${paint(cell, i)}${' '.repeat((widths[i] ?? 0) - textWidth(cell))} `).join('│')}│`;
  return [
    line('┌', '┬', '┐'),
    cells(head, text => text),
    line('├', '┼', '┤'),
    ...rows.map(row => cells(row, render)),
    line('└', '┴', '┘'),
  ].join('\n');
}

/** Minimum widths: of any column, and of the column that shrinks first. */
const LEAST = 8;
const LEAST_WORDS = 16;

/** Wider lines are hard to read. */
const MOST_COLUMNS = 16;

interface Fit {
  /** May colour a cell after its width is known. */
  render?: (text: string, column: number) => string;
  /** The column that shrinks first (default: the last). */
  words?: number;
  /** Columns to drop, in this order, on a narrow screen. */
  spare?: readonly number[];
  /** Columns that are never cut, because people type their values. */
  whole?: readonly number[];
}

/**
 * A table of at most `width` columns: one column shrinks first, then the widest. If the screen is too narrow, each row
 * becomes a few lines without empty cells.
 */
export function fitTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
  {render = text => text, words = head.length - 1, spare = [], whole = []}: Fit = {},
): string {
  const flat = rows.map(row => row.map(cell => cell.replace(/\s+/g, ' ').trim()));
  const natural = head.map((title, i) =>
    flat.reduce((most, row) => Math.max(most, textWidth(row[i] ?? '')), textWidth(title)),
  );
  for (let left = 0; left <= spare.length && head.length <= MOST_COLUMNS; left++) {
    const kept = head.flatMap((_, i) => (spare.slice(0, left).includes(i) ? [] : [i]));
    const pick = (cells: readonly string[]) => kept.map(i => cells[i] ?? '');
    const room = width - 3 * kept.length - 1;
    const all = kept.map(i => natural[i] ?? 0);
    // Drop a column rather than cut an id.
    const typed = whole.map(i => kept.indexOf(i));
    const widths = fittedWidths(all, room, {words: kept.indexOf(words), typed, any: left === spare.length});
    if (!widths) continue;
    const cutAll = (row: readonly string[]) => pick(row).map((cell, i) => cutToWidth(cell, widths[i] ?? LEAST));
    return drawTable(cutAll(head), flat.map(cutAll), (text, i) => render(text, kept[i] ?? i));
  }
  return records(head, flat, width, render);
}

/** Undefined if there is not enough room. */
function fittedWidths(
  natural: readonly number[],
  room: number,
  {words, typed, any}: {words: number; typed: readonly number[]; any: boolean},
): number[] | undefined {
  const sum = (all: readonly number[]) => all.reduce((total, each) => total + each, 0);
  const full = natural[words] ?? 0;
  const least = Math.min(full, LEAST_WORDS);
  const left = Math.min(full, Math.max(least, room - sum(natural) + full));
  const widest = Math.max(...natural);
  for (let most = widest; most >= (any ? Math.min(LEAST, widest) : widest); most--) {
    const tried = natural.map((each, i) => (i === words ? left : typed.includes(i) ? each : Math.min(each, most)));
    if (sum(tried) <= room) return tried;
  }
  return undefined;
}

function records(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
  render: (text: string, column: number) => string,
): string {
  const lines = rows.map(row =>
    row.flatMap((cell, i) => {
      if (cell === '') return [];
      const label = head[i] ? `${head[i]}:` : '';
      const [first = '', ...more] = labelled(label, cell, width);
      // A single line may contain colour codes, which have no width.
      return more.length === 0 ? [`${label} ${render(cell, i)}`.trimStart()] : [first, ...more];
    }),
  );
  return lines.map(each => `${each.join('\n')}\n`).join('\n');
}

/** A titled box around lines. */
export function drawBox(title: string, lines: readonly string[], width: number): string {
  const inner = width - 4;
  const top = `┌─ ${title} ${'─'.repeat(Math.max(0, width - textWidth(title) - 5))}┐`;
  const body = lines.map(line => `│ ${line}${' '.repeat(Math.max(0, inner - textWidth(line)))} │`);
  return [top, ...body, `└${'─'.repeat(width - 2)}┘`].join('\n');
}

/** `label: text`, wrapped at words, further lines aligned with the text. */
export function labelled(label: string, text: string, width: number): string[] {
  const indent = textWidth(label) + 1;
  const lines: string[] = [];
  let line = '';
  const room = Math.max(2, width - indent);
  for (const word of text
    .split(/\s+/)
    .filter(Boolean)
    .flatMap(each => breakAt(each, room))) {
    if (line !== '' && textWidth(line) + 1 + textWidth(word) > room) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.map((text, i) => (i === 0 ? `${label} ${text}` : ' '.repeat(indent) + text));
}

/** At most `width` columns, cut with an ellipsis. */
export function cutToWidth(text: string, width: number): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  if (textWidth(flat) <= width) return flat;
  return `${breakAt(flat, width - 1)[0] ?? ''}…`;
}

/** Splits a line into pieces of at most `width` columns; with `words`, preferably after a space. */
export function breakAt(line: string, width: number, words = false): string[] {
  if (line.length <= width && textWidth(line) <= width) return [line];
  const parts: string[] = [];
  let start = 0;
  let used = 0;
  let at = 0;
  /** Index after the last usable space. */
  let space = 0;
  for (const char of line) {
    const columns = textWidth(char);
    if (used + columns > width && at > start) {
      const end = words && space > start && at - space < width / 2 ? space : at;
      parts.push(line.slice(start, end));
      start = end;
      used = textWidth(line.slice(start, at));
    }
    used += columns;
    at += char.length;
    if (char === ' ' && line.slice(start, at).trim() !== '') space = at;
  }
  return [...parts, line.slice(start)];
}

/** Columns on a terminal. Skips the slow string-width for common characters. */
export function textWidth(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(text);
}
