/** Each of one column: nearly all that is ever shown, marks and frames too, and how hidden characters are written out. */
export const NARROW = /^[ -~¡-¬®-ʯΑ-ωЀ-ҁ–—‘’“”•…←-↓─-╿✓✗⚠⟨⟩]*$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
const COLOURS = /\u001b\[[0-9;]*m/g;

/** How far lines are indented that stand below what they belong to. */
const BELOW = 4;

/**
 * Lines of at most `width` columns, broken at spaces; what a line goes on with stands below its second column, if it has
 * one, else a little further in than it began, if it was indented at all. A word that is longer than that is left whole: the terminal breaks it, and
 * a path or an address can be copied.
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

/** Where the second column of a line begins: behind two spaces or more. */
function secondColumn(plain: string): number | undefined {
  return /^\s*\S.*?\s{2,}(?=\S)/.exec(plain)?.[0].length;
}

/** Rather too many than too few, and without what takes long to load: it is only about where to break. */
function columnsOf(text: string): number {
  const plain = text.replace(COLOURS, '');
  if (NARROW.test(plain)) return plain.length;
  let columns = 0;
  for (const char of plain) columns += NARROW.test(char) ? 1 : 2;
  return columns;
}
