import stringWidth from 'string-width';

/** Cells and a head, drawn as the seeds draw theirs. `render` may colour a cell after its width is known. */
export function drawTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  render: (text: string, column: number) => string = text => text,
): string {
  const widths = head.map((title, i) => Math.max(stringWidth(title), ...rows.map(row => stringWidth(row[i] ?? ''))));
  const line = (left: string, middle: string, right: string) =>
    left + widths.map(width => '─'.repeat(width + 2)).join(middle) + right;
  const cells = (row: readonly string[], paint: (text: string, column: number) => string) =>
    `│${row.map((cell, i) => ` ${paint(cell, i)}${' '.repeat((widths[i] ?? 0) - stringWidth(cell))} `).join('│')}│`;
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
  const top = `┌─ ${title} ${'─'.repeat(Math.max(0, width - stringWidth(title) - 5))}┐`;
  const body = lines.map(line => `│ ${line}${' '.repeat(Math.max(0, inner - stringWidth(line)))} │`);
  return [top, ...body, `└${'─'.repeat(width - 2)}┘`].join('\n');
}

/** `label: text`, wrapped at words, further lines aligned with the text. */
export function labelled(label: string, text: string, width: number): string[] {
  const indent = stringWidth(label) + 1;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (line !== '' && stringWidth(line) + 1 + stringWidth(word) > width - indent) {
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
  if (stringWidth(flat) <= width) return flat;
  let out = '';
  for (const char of flat) {
    if (stringWidth(out + char) > width - 1) break;
    out += char;
  }
  return `${out}…`;
}
