import {textWidth} from '../terminal/table.ts';

/** A piece of a line in one style. */
export interface Span {
  text: string;
  paint?: ((text: string) => string) | undefined;
}

/** Breaks spans into lines of at most `width` columns, preferably at spaces. Line breaks in the text stay. */
export function wrapSpans(spans: readonly Span[], width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  /** Spaces that are written only if a word follows on the same line. */
  let space = '';
  const next = () => {
    lines.push(line);
    line = '';
    used = 0;
    space = '';
  };
  const put = (text: string, columns: number, paint: (text: string) => string) => {
    line += paint(text);
    used += columns;
  };
  for (const {text, paint = String} of spans) {
    for (const [part] of text.matchAll(/\n|[^\S\n]+|[^\s]+/g)) {
      if (part === '\n') {
        next();
        continue;
      }
      if (part.trim() === '') {
        if (used > 0) space += part;
        else put(part.slice(0, width), Math.min(part.length, width), paint);
        continue;
      }
      const columns = textWidth(part);
      if (used > 0 && used + space.length + columns > width) next();
      if (space !== '') put(space, space.length, paint);
      space = '';
      if (columns <= width - used) put(part, columns, paint);
      else
        for (const char of part) {
          const one = textWidth(char);
          if (used + one > width) next();
          put(char, one, paint);
        }
    }
  }
  lines.push(line);
  return lines;
}

/** Breaks a line into rows of exactly what it says: nothing is dropped, spaces are kept. */
export function breakLine(line: string, width: number): string[] {
  const rows: string[] = [];
  let row = '';
  let used = 0;
  for (const char of line.replaceAll('\t', '    ')) {
    const columns = textWidth(char);
    if (used + columns > width) {
      rows.push(row);
      row = '';
      used = 0;
    }
    row += char;
    used += columns;
  }
  return [...rows, row];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
const COLOUR_OR_CHAR = /(\u001b\[[0-9;]*m)|[\s\S]/gu;

/** As `breakLine`, for a line with colours: each row begins with those that hold there. */
export function breakColoured(line: string, width: number): string[] {
  const rows: string[] = [];
  let [row, used, colours] = ['', 0, ''];
  for (const [part, colour] of line.replaceAll('\t', '    ').matchAll(COLOUR_OR_CHAR)) {
    const columns = colour === undefined ? textWidth(part) : 0;
    if (used + columns > width) {
      rows.push(colours === '' ? row : `${row}\u001b[0m`);
      [row, used] = [colours, 0];
    }
    if (colour !== undefined) colours += colour;
    row += part;
    used += columns;
  }
  return [...rows, row];
}
