/** How lines are searched for. */
export interface LineSearch {
  pattern: RegExp;
  /** Whether the whole text must match if a line does: then most files are done with one look. */
  wholeTells: boolean;
  /** Bytes that every match contains. */
  literal: Buffer | undefined;
  context: number;
}

/** A file, or some lines of it. */
export interface TextPart {
  path: string;
  text: string;
  firstLine: number;
}

export interface LineMatches {
  /** Lines that match. */
  count: number;
  /** As grep prints them. */
  lines: string[];
  /** Of those, about. */
  bytes: number;
}

const LONGEST_SHOWN = 400;

/** A string says why the pattern is none. */
export function lineSearch(source: string, ignoreCase: boolean, context: number): LineSearch | string {
  // As ripgrep and others write it, which JavaScript does not know.
  const inline = source.startsWith('(?i)');
  const body = inline ? source.slice(4) : source;
  try {
    const caseless = ignoreCase || inline;
    const pattern = new RegExp(body, caseless ? 'im' : 'm');
    const plain = !/[\\^$.*+?()[\]{}|]/.test(body);
    return {
      pattern,
      // Lookarounds see the next line, if it is there.
      wholeTells: !/\(\?(?!:)/.test(body),
      literal: plain && !caseless && body !== '' ? Buffer.from(body) : undefined,
      context,
    };
  } catch (error) {
    return (error as Error).message;
  }
}

/** The lines that match, with those around them, until there are so many. Only computes. */
export function searchText(
  search: LineSearch,
  {path, text, firstLine}: TextPart,
  most: {readonly matches: number; readonly bytes: number},
): LineMatches {
  const found: LineMatches = {count: 0, lines: [], bytes: 0};
  if (most.matches <= 0 || most.bytes <= 0) return found;
  if (search.wholeTells && !search.pattern.test(text)) return found;
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const print = (index: number, sign: string, at = 0) => {
    const row = `${path}${sign}${firstLine + index}${sign}${excerpt(withoutReturn(lines[index] ?? ''), at)}`;
    found.lines.push(row);
    found.bytes += row.length + 1;
  };
  let printed = 0;
  let openUntil = -1;
  for (let i = 0; i < lines.length; i++) {
    const enough = found.count >= most.matches || found.bytes >= most.bytes;
    const at = enough ? -1 : withoutReturn(lines[i] ?? '').search(search.pattern);
    if (at >= 0) {
      const from = Math.max(printed, i - search.context);
      if (search.context > 0 && found.count > 0 && from > printed) found.lines.push('--');
      for (let before = from; before < i; before++) print(before, '-');
      print(i, ':', at);
      found.count++;
      printed = i + 1;
      openUntil = i + search.context;
    } else if (i <= openUntil) {
      print(i, '-');
      printed = i + 1;
    } else if (enough) break;
  }
  return found;
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** Of a long line the part around the match. */
function excerpt(line: string, at: number): string {
  if (line.length <= LONGEST_SHOWN) return line;
  const from = Math.max(0, Math.min(at - LONGEST_SHOWN / 4, line.length - LONGEST_SHOWN));
  const part = line.slice(from, from + LONGEST_SHOWN);
  return `${from > 0 ? '…' : ''}${part}${from + LONGEST_SHOWN < line.length ? '…' : ''}`;
}
