import type {Redactor} from '../../policy/redact/redact.ts';
import {escaped, readDialect} from './pattern-dialect.ts';
import {requiredTexts} from './required-text.ts';

/** How lines are searched for. */
export interface LineSearch {
  pattern: RegExp;
  /** The same for a text with characters that JavaScript has as two. */
  wide: RegExp;
  /** Whether the pattern names \r, which else is no part of a line that ends with it. */
  namesReturn: boolean;
  /** Whether the whole text must match if a line does: then most files are done with one look. */
  wholeTells: boolean;
  /** Every line that matches has one of these. */
  literals: readonly Buffer[] | undefined;
  context: number;
}

/** A file, or some lines of it. */
export interface TextPart {
  path: string;
  text: string;
  firstLine: number;
  /** What stands before, if it is not the first. */
  before?: Before;
}

/** How the lines before a part of a file were shown. */
export interface Before {
  /** The last of them, as many as may be shown around a match. */
  tail: readonly string[];
  /** Number of the last one shown. */
  shown: number;
  /** Number of the last line that is near enough to a match. */
  openUntil: number;
}

export interface LineMatches {
  /** Lines that match. */
  count: number;
  /** As grep prints them. */
  lines: string[];
  /** Of those, about. */
  bytes: number;
  /** Number of the first of them. */
  first: number;
  shown: number;
  openUntil: number;
}

const LONGEST_SHOWN = 400;
const LONGEST_PATTERN = 4096;
/** Longer ones take long to compile in that way. */
const LONGEST_WIDE = 1000;
/** No secret is longer: what is cut is redacted with so much around it. */
const AROUND = 64 * 1024;

/** A string says why the pattern is none, and what to write instead. */
export function lineSearch(written: string, ignoreCase: boolean, context: number): LineSearch | string {
  if (written.length > LONGEST_PATTERN)
    return `it has ${written.length} characters, more than ${LONGEST_PATTERN}; look for less, or several times`;
  const dialect = readDialect(written);
  if (typeof dialect === 'string') return `${dialect}${asItStands(written)}`;
  const {source, unicode} = dialect;
  if (unicode && written.length > LONGEST_WIDE)
    return `it has more than ${LONGEST_WIDE} characters, which are too many with \\p{…} or characters like 😀`;
  const caseless = ignoreCase || dialect.ignoreCase;
  try {
    const flags = `${caseless ? 'i' : ''}m`;
    const pattern = new RegExp(source, `${flags}${unicode ? 'u' : ''}`);
    return {
      pattern,
      wide: unicode ? pattern : (widePattern(written, flags) ?? pattern),
      namesReturn: /\r|(?<!\\)(?:\\\\)*\\(?:r|x0d|u000d)/i.test(source),
      // Lookarounds see the next line, if it is there.
      wholeTells: !/\(\?(?!:)/.test(source),
      literals: caseless ? undefined : requiredTexts(source),
      context,
    };
  } catch (error) {
    const why = /^Invalid regular expression: \/.*\/\w*: (.*)$/s.exec((error as Error).message)?.[1];
    return `${why ?? (error as Error).message.slice(0, 200)}${asItStands(written)}`;
  }
}

/** Undefined where JavaScript takes the pattern only in its older way. */
function widePattern(written: string, flags: string): RegExp | undefined {
  const dialect = written.length > LONGEST_WIDE ? '' : readDialect(written, true);
  if (typeof dialect === 'string') return undefined;
  try {
    return new RegExp(dialect.source, `${flags}u`);
  } catch {
    return undefined;
  }
}

/** Most broken patterns were meant as plain text. */
function asItStands(written: string): string {
  const plain = escaped(written);
  if (plain === written || written.length > 200 || written.includes('\n')) return '';
  return `; the pattern that finds this text as it stands is ${plain}`;
}

/**
 * The lines that match, with those around them, until there are so many. Only computes. Lines that are cut are redacted:
 * half a secret is not known as one.
 */
export function searchText(
  search: LineSearch,
  {path, text, firstLine, before = {tail: [], shown: 0, openUntil: 0}}: TextPart,
  most: {readonly matches: number; readonly bytes: number},
  redact: Redactor,
): LineMatches {
  const {shown, openUntil} = before;
  const found: LineMatches = {count: 0, lines: [], bytes: 0, first: 0, shown, openUntil};
  if (most.matches <= 0 || most.bytes <= 0) return found;
  const pattern = /[\ud800-\udfff]/.test(text) ? search.wide : search.pattern;
  if (search.wholeTells && openUntil < firstLine && !pattern.test(text)) return found;
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const lineAt = (number: number) => lines[number - firstLine] ?? before.tail.at(number - firstLine) ?? '';
  const print = (number: number, sign: string, at = 0) => {
    const row = `${path}${sign}${number}${sign}${excerpt(withoutReturn(lineAt(number)), at, redact)}`;
    if (found.first === 0) found.first = number;
    else if (search.context > 0 && number > found.shown + 1) found.lines.push('--');
    found.lines.push(row);
    found.bytes += row.length + 1;
    found.shown = number;
  };
  for (let number = firstLine; number < firstLine + lines.length; number++) {
    const enough = found.count >= most.matches || found.bytes >= most.bytes;
    const line = lineAt(number);
    const at = enough ? -1 : (search.namesReturn ? line : withoutReturn(line)).search(pattern);
    if (at >= 0) {
      for (let n = Math.max(found.shown + 1, number - search.context, 1); n < number; n++) print(n, '-');
      print(number, ':', at);
      found.count++;
      found.openUntil = number + search.context;
    } else if (number <= found.openUntil) print(number, '-');
    else if (enough) break;
  }
  return found;
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** Of a long line the part around the match. */
function excerpt(line: string, at: number, redact: Redactor): string {
  if (line.length <= LONGEST_SHOWN) return line;
  const from = Math.max(0, Math.min(at - LONGEST_SHOWN / 4, line.length - LONGEST_SHOWN));
  const part = withoutSecrets(line, from, from + LONGEST_SHOWN, redact);
  return `${from > 0 ? '…' : ''}${part}${from + LONGEST_SHOWN < line.length ? '…' : ''}`;
}

/** A part of a text as it is, or about that part without the secrets in it and across its ends. */
export function withoutSecrets(line: string, from: number, to: number, redact: Redactor): string {
  const begin = Math.max(0, from - AROUND);
  const window = line.slice(begin, to + AROUND);
  if (redact.text(window) === window) return line.slice(from, to);
  const stream = redact.stream();
  // What was held back of the text before comes with the part.
  stream.push(line.slice(begin, from));
  const part = stream.push(line.slice(from, to));
  const start = Math.max(0, part.length - (to - from));
  const after = stream.push(line.slice(to, to + AROUND)) + (to + AROUND >= line.length ? stream.end() : '');
  return (part + after).slice(start, start + to - from);
}
