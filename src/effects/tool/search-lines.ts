import type {Redactor} from '../../policy/redact/redact.ts';
import {escaped, readDialect} from './pattern-dialect.ts';
import {requiredTexts} from './required-text.ts';

export interface LineSearch {
  pattern: RegExp;
  /** The pattern with the u flag, for text with characters outside the BMP. */
  wide: RegExp;
  /** The pattern contains \r; otherwise a \r at the end of a line is ignored. */
  namesReturn: boolean;
  /** The whole text matches if any line does, so that one test rules out most files. */
  wholeTells: boolean;
  /** Every matching line contains one of these. */
  literals: readonly Buffer[] | undefined;
  context: number;
}

export interface TextPart {
  path: string;
  text: string;
  firstLine: number;
  /** State of the lines before, if this is not the first part. */
  before?: Before;
}

/** State of the search after the part before. */
export interface Before {
  /** Its last lines, as many as the context needs. */
  tail: readonly string[];
  /** Number of the last line shown. */
  shown: number;
  /** Number of the last line within the context of a match. */
  openUntil: number;
}

export interface LineMatches {
  count: number;
  /** In grep's format. */
  lines: string[];
  /** Size of `lines`, roughly. */
  bytes: number;
  /** Number of the first line shown. */
  first: number;
  shown: number;
  openUntil: number;
}

const LONGEST_SHOWN = 400;
const LONGEST_PATTERN = 4096;
/** Longer patterns take long to compile with the u flag. */
const LONGEST_WIDE = 1000;
/** Longer than any secret: cut text is redacted with this much around it. */
const AROUND = 64 * 1024;

/** A string says why the pattern is invalid, and what to write instead. */
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
      // A lookaround can see the next line.
      wholeTells: !/\(\?(?!:)/.test(source),
      literals: caseless ? undefined : requiredTexts(source),
      context,
    };
  } catch (error) {
    const why = /^Invalid regular expression: \/.*\/\w*: (.*)$/s.exec((error as Error).message)?.[1];
    return `${why ?? (error as Error).message.slice(0, 200)}${asItStands(written)}`;
  }
}

/** Undefined if JavaScript accepts the pattern only without the u flag. */
function widePattern(written: string, flags: string): RegExp | undefined {
  const dialect = written.length > LONGEST_WIDE ? '' : readDialect(written, true);
  if (typeof dialect === 'string') return undefined;
  try {
    return new RegExp(dialect.source, `${flags}u`);
  } catch {
    return undefined;
  }
}

/** Most broken patterns were meant as plain text: suggest the escaped pattern. */
function asItStands(written: string): string {
  const plain = escaped(written);
  if (plain === written || written.length > 200 || written.includes('\n')) return '';
  return `; the pattern that finds this text as it stands is ${plain}`;
}

/** Return matching lines with context, up to `most`. Redacts cut lines: half a secret would not be recognised later. */
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

/** Shorten a long line to the part around the match. */
function excerpt(line: string, at: number, redact: Redactor): string {
  if (line.length <= LONGEST_SHOWN) return line;
  const from = Math.max(0, Math.min(at - LONGEST_SHOWN / 4, line.length - LONGEST_SHOWN));
  const part = withoutSecrets(line, from, from + LONGEST_SHOWN, redact);
  return `${from > 0 ? '…' : ''}${part}${from + LONGEST_SHOWN < line.length ? '…' : ''}`;
}

/** Slice a text. If there are secrets in it or across its ends, return about that slice, redacted. */
export function withoutSecrets(line: string, from: number, to: number, redact: Redactor): string {
  const begin = Math.max(0, from - AROUND);
  const window = line.slice(begin, to + AROUND);
  if (redact.text(window) === window) return line.slice(from, to);
  const stream = redact.stream();
  // Text held back before `from` is returned with the part.
  stream.push(line.slice(begin, from));
  const part = stream.push(line.slice(from, to));
  const start = Math.max(0, part.length - (to - from));
  const after = stream.push(line.slice(to, to + AROUND)) + (to + AROUND >= line.length ? stream.end() : '');
  return (part + after).slice(start, start + to - from);
}
