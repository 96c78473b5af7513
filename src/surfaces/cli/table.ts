import stringWidth from 'string-width';

/** Cells and a head, drawn as the seeds draw theirs. `render` may colour a cell after its width is known. */
export function drawTable(
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
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (line !== '' && textWidth(line) + 1 + textWidth(word) > width - indent) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.map((text, i) => (i === 0 ? `${label} ${text}` : ' '.repeat(indent) + text));
}

/** At most `width` columns, cut with an ellipsis. */
export function cut(text: string, width: number): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  if (textWidth(flat) <= width) return flat;
  return `${breakAt(flat, width - 1)[0] ?? ''}…`;
}

/** A line in pieces of at most `width` columns; with `words`, after a space where one is near. Nothing is left out. */
export function breakAt(line: string, width: number, words = false): string[] {
  if (line.length <= width && textWidth(line) <= width) return [line];
  const parts: string[] = [];
  let start = 0;
  let used = 0;
  let at = 0;
  /** Behind the last space of the piece that follows a word. */
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

/** Each of one column: nearly all that is ever shown, and how hidden characters are written out. */
const NARROW = /^[ -~⟨⟩…]*$/;

/** Columns on a terminal. To look at each character takes long. */
export function textWidth(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(text);
}
