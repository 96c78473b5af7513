/** `**Name:** value` at the beginning of a line, outside fences and comments. */
export interface Label {
  /** In lower case. */
  name: string;
  /** Text after and below the label, up to the next label; content of a fence if there is one. Without comments. */
  value: string;
  /** Like `value`, but never from a fence: decisions are read from this. */
  words: string;
  /** Start of its line. */
  start: number;
  valueStart: number;
  /** End of the words on the label's line, before a comment. */
  wordsEnd: number;
}

export const LABEL =
  /^ {0,3}(?:\*\*([A-Za-z][A-Za-z ]{0,30}):\*\*|\*\*([A-Za-z][A-Za-z ]{0,30})\*\*:|([Dd]ecision|DECISION|Notes|Reason|Always|Answer|Reviewed by|Reviewed at|network(?=:[ \t]*true[ \t]*$)|sandbox(?=:[ \t]*host[ \t]*$)):)/;
const FENCE = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/s;

/** Read the labels of text[start, end) in one pass. */
export function readLabels(text: string, start: number, end: number): Label[] {
  // `closed`: a comment or fence ends the words that an edit may replace.
  const labels: (Label & {lines: string[]; fences: string[]; closed: boolean})[] = [];
  let fence: string | undefined;
  let comment = false;
  for (let at = start; at < end; ) {
    const newline = text.indexOf('\n', at);
    const next = newline === -1 || newline >= end ? end : newline + 1;
    const line = text.slice(at, next).replace(/\r?\n$/, '');
    const current = labels.at(-1);
    if (fence !== undefined) {
      if (isClosingFence(line, fence)) fence = undefined;
      else current?.fences.push(line);
      if (current) current.closed = true;
    } else if (comment) comment = !line.includes('-->');
    else if (fenceOf(line) !== undefined) fence = fenceOf(line);
    else {
      const found = LABEL.exec(line);
      const rest = found ? line.slice(found[0].length) : line;
      const words = withoutComments(rest);
      comment = words.open;
      if (found) {
        const valueStart = at + found[0].length;
        const name = (found[1] ?? found[2] ?? found[3] ?? '').trim().toLowerCase();
        labels.push({
          name,
          value: '',
          words: '',
          start: at,
          valueStart,
          wordsEnd: valueStart + words.first,
          lines: [words.text],
          fences: [],
          closed: false,
        });
      } else if (current) {
        current.lines.push(words.text);
        if (words.text.trim() !== '' && words.text === rest && !current.closed)
          current.wordsEnd = at + rest.trimEnd().length;
      }
      const last = labels.at(-1);
      if (last && words.text !== rest) last.closed = true;
    }
    at = next;
  }
  return labels.map(({lines, fences, closed: _, ...label}) => ({
    ...label,
    value: labelValue(lines, fences),
    words: labelValue(lines, []),
  }));
}

/** Mark of a fence that opens on this line. */
export function fenceOf(line: string): string | undefined {
  const found = FENCE.exec(line.trimEnd());
  return found?.[1] ?? found?.[2];
}

export function isClosingFence(line: string, fence: string): boolean {
  const run = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return run !== undefined && run[0] === fence[0] && run.length >= fence.length;
}

/** Content of a fence if there is one, otherwise the text without surrounding backticks. */
function labelValue(lines: readonly string[], fences: readonly string[]): string {
  if (fences.length > 0) return fences.join('\n');
  const text = lines.join('\n').trim();
  const ticked = /^(`+)([^`](?:.*[^`])?)\1$/s.exec(text);
  return ticked ? (ticked[2] ?? '') : text;
}

interface Words {
  text: string;
  comments: string;
  /** End of the words before the first comment. */
  first: number;
  /** A comment continues on the next line. */
  open: boolean;
}

export function withoutComments(line: string): Words {
  let text = '';
  let comments = '';
  let first: number | undefined;
  for (let at = 0; ; ) {
    const begin = line.indexOf('<!--', at);
    if (begin === -1) {
      text += line.slice(at);
      return {text, comments, first: first ?? line.trimEnd().length, open: false};
    }
    text += line.slice(at, begin);
    first ??= line.slice(0, begin).trimEnd().length;
    const close = line.indexOf('-->', begin);
    comments += line.slice(begin + 4, close === -1 ? line.length : close);
    if (close === -1) return {text, comments, first, open: true};
    at = close + 3;
  }
}
