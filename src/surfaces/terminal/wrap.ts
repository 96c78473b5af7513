/** Characters that are one column wide. */
export const NARROW = /^[ -~¡-¬®-ʯΑ-ωЀ-ҁ–—‘’“”•…←-↓─-╿✓✗⚠⟨⟩]*$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
const COLOURS = /\u001b\[[0-9;]*m/g;

/** Extra indentation of continuation lines. */
const BELOW = 4;

/**
 * Wraps lines at spaces to `width` columns. Continuations align with the second column, if there is one, else are
 * indented a little more if the line is indented. Long words such as paths stay whole, so that they can be copied.
 */
export function wrap(text: string, width: number, hang?: number): string {
  if (width === Number.POSITIVE_INFINITY) return text;
  return text
    .split('\n')
    .map(line => (columnsOf(line) <= width ? line : wrapLine(line, width, hang)))
    .join('\n');
}

function wrapLine(line: string, width: number, hang: number | undefined): string {
  const plain = line.replace(COLOURS, '');
  const indent = plain.length - plain.trimStart().length;
  const second = hang ?? secondColumn(plain);
  const isFar = second !== undefined && second > width / 2;
  const deeper = second === undefined ? indent && indent + 2 : isFar ? indent + BELOW : second;
  const further = ' '.repeat(Math.min(deeper, width >> 1));
  const lines: string[] = [];
  let current = '';
  let used = 0;
  for (const [, space = '', word = ''] of line.matchAll(/(\s*)(\S+)/g)) {
    const columns = columnsOf(word);
    const begin = used + space.length;
    if (current.trim() !== '' && (begin + columns > width || (isFar && lines.length === 0 && begin === second))) {
      lines.push(current);
      current = further + word;
      used = further.length + columns;
    } else {
      current += space + word;
      used = begin + columns;
    }
  }
  return [...lines, current].join('\n');
}

/** The start of the second column: after two or more spaces. */
function secondColumn(plain: string): number | undefined {
  return /^\s*\S.*?\s{2,}(?=\S)/.exec(plain)?.[0].length;
}

/** An upper bound, without loading string-width: it only decides where to break. */
function columnsOf(text: string): number {
  const plain = text.replace(COLOURS, '');
  if (NARROW.test(plain)) return plain.length;
  let columns = 0;
  for (const char of plain) columns += NARROW.test(char) ? 1 : 2;
  return columns;
}
