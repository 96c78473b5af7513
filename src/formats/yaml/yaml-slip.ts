import type {Place} from '../common/diagnostic.ts';

/** The one thing that a person most likely got wrong in a YAML text, and how to write it. */
export interface Slip extends Place {
  message: string;
  hint: string;
}

/** A line written as it may be meant. Lines count from 0. */
interface Correction {
  line: number;
  text: string;
  /** From 1. */
  column: number;
  message: string;
  /** If it says more than to write the corrected line. */
  hint?: string;
}

/** Each correction is tried by parsing the text again, so of longer texts only the surroundings are looked at. */
const MAX_LENGTH = 4_000;
const MAX_LINES = 40;
const MAX_CORRECTIONS = 24;

/**
 * Find the slip behind a syntax error. A YAML parser reports where it cannot go on, and often much that follows from that;
 * a person needs the line to change. So each usual slip near `line` is corrected for a try: the correction that lets the
 * parser get furthest is the answer.
 *
 *     findSlip('messages\n  - role: user\n', 1, parse) // line 1: missing ':' after messages
 *
 * `firstError`: line of the first syntax error of a text, from 1; undefined if there is none.
 */
export function findSlip(
  text: string,
  line: number,
  firstError: (text: string) => number | undefined,
): Slip | undefined {
  const all = text.split('\n').map(each => each.replace(/\r$/, ''));
  const at = Math.min(line, all.length) - 1;
  const {top, start, end} = text.length > MAX_LENGTH ? surroundings(all, at) : {top: [], start: 0, end: all.length};
  const lines = [...top, ...all.slice(start, end)];
  if (lines.reduce((sum, each) => sum + each.length, 0) > MAX_LENGTH) return undefined;
  const shift = start - top.length;
  let best: Correction | undefined;
  let reached = at - shift;
  let tries = 0;
  for (const correction of corrections(lines, at - shift)) {
    if (tries++ >= MAX_CORRECTIONS) break;
    const error = firstError(lines.with(correction.line, correction.text).join('\n'));
    if (error !== undefined && error - 1 <= Math.max(reached, correction.line)) continue;
    best = correction;
    reached = error === undefined ? Number.POSITIVE_INFINITY : error - 1;
    if (error === undefined) break;
  }
  if (!best) return undefined;
  const {message, column, hint = `write ${shown(best.text)}`} = best;
  return {line: best.line + shift + 1, column, message, hint};
}

/** Lines around `at` that read alike without the others: from the item of the list that `at` belongs to, below its key. */
function surroundings(lines: readonly string[], at: number): {top: string[]; start: number; end: number} {
  const end = Math.min(lines.length, at + MAX_LINES);
  let key = at - 1;
  while (key > 0 && !/^[A-Za-z_]/.test(lines[key] ?? '')) key--;
  if (key < 0) return {top: [], start: 0, end};
  const dash = /^ *- /.exec(lines.slice(key + 1, at).find(line => /^ *- /.test(line)) ?? '')?.[0];
  let start = at - 1;
  while (start > key + 1 && at - start < MAX_LINES && (dash === undefined || !lines[start]?.startsWith(dash))) start--;
  return start <= key ? {top: [], start: key, end} : {top: [lines[key] ?? ''], start, end};
}

/** In order of likelihood, for the line of the error and its neighbours. */
function* corrections(lines: readonly string[], at: number): Generator<Correction> {
  const above = neighbour(lines, at, -1);
  const below = neighbour(lines, at, 1);
  const near = [at, above, below].filter(line => line !== undefined);
  for (const line of near) yield* tabs(lines, line);
  yield* unindentedText(lines, at);
  for (const line of near) yield* missingSigns(lines, line);
  for (const line of near) yield* missingQuotes(lines, line);
  yield* unclosed(lines, at);
  for (const line of near) yield* missingDash(lines, line);
  for (const line of near) yield* indentation(lines, line);
}

function* tabs(lines: readonly string[], line: number): Generator<Correction> {
  const text = lines[line] ?? '';
  const blank = /^[ \t]*/.exec(text)?.[0] ?? '';
  if (!blank.includes('\t')) return;
  for (const width of widthsNear(lines, line, blank.length))
    yield {
      line,
      text: ' '.repeat(width) + text.trimStart(),
      column: blank.indexOf('\t') + 1,
      message: 'expected spaces as indentation, found a tab',
      hint: `indent the line with ${spaces(width)}`,
    };
}

const KEY = '[A-Za-z_][\\w.-]*';

/** `key value`, `key = value`, `key:value` and `-item`. */
function* missingSigns(lines: readonly string[], line: number): Generator<Correction> {
  const text = lines[line] ?? '';
  const [, lead = '', key, gap = '', value = ''] =
    new RegExp(`^(\\s*(?:- +)*)(${KEY})(:?\\s*=?\\s*)(.*)$`).exec(text) ?? [];
  const [, dash, item] = /^(\s*-)([^\s-].*)$/.exec(text) ?? [];
  if (dash !== undefined)
    yield {line, text: `${dash} ${item}`, column: dash.length, message: "missing blank after '-'"};
  if (key === undefined || (/:\s/.test(gap) && !gap.includes('=')) || (gap === ':' && value === '')) return;
  const column = lead.length + key.length + 1;
  const corrected = `${lead}${key}:${value === '' ? '' : ` ${value}`}`;
  if (gap === ':') yield {line, text: corrected, column, message: `missing blank after '${key}:'`};
  else if (gap.includes('=')) yield {line, text: corrected, column, message: `expected ':' after ${key}, found '='`};
  else if (gap !== '' || value === '') yield {line, text: corrected, column, message: `missing ':' after ${key}`};
}

/** A line that belongs to the text of a key above (`key: |`), but is not indented. */
function* unindentedText(lines: readonly string[], line: number): Generator<Correction> {
  const text = lines[line] ?? '';
  const above = neighbour(lines, line, -1);
  if (above === undefined || text.trim() === '') return;
  const depth = indentOf(lines[above] ?? '');
  let header = above;
  while (header > 0 && (indentOf(lines[header] ?? '') >= depth || lines[header]?.trim() === '')) header--;
  const [, key] = new RegExp(`^\\s*(?:- +)*(${KEY}):\\s+[|>][-+\\d]*\\s*(?:#.*)?$`).exec(lines[header] ?? '') ?? [];
  const [, word, rest] = new RegExp(`^(${KEY})(.*)$`).exec(text.trim()) ?? [];
  if (key === undefined || indentOf(text) >= depth || (word !== undefined && rest === '')) return;
  yield {
    line,
    text: ' '.repeat(depth) + text.trimStart(),
    column: indentOf(text) + 1,
    message: `expected the text of ${key} with ${spaces(depth)} of indentation, found ${indentOf(text)}`,
    hint: `indent the line with ${spaces(depth)}${word === undefined ? '' : `; or, if ${word} is a key, add ':' after it`}`,
  };
}

/** A value that means something else to YAML, or ends too early. */
function* missingQuotes(lines: readonly string[], line: number): Generator<Correction> {
  const text = lines[line] ?? '';
  const [, lead = '', value = ''] = new RegExp(`^(\\s*(?:- +)*(?:${KEY}:\\s+)?)(\\S.*)$`).exec(text) ?? [];
  const column = lead.length + 1;
  const quote = value[0];
  if (quote === '"' || quote === "'") {
    const inner = value.trimEnd().slice(1, -1);
    const inside = quote === "'" ? inner.replaceAll("'", "''") : inner.replaceAll(/(?<!\\)"/g, '\\"');
    if (value.length > 1 && value.trimEnd().endsWith(quote) && inside !== inner)
      yield {
        line,
        text: lead + quote + inside + quote,
        column,
        message: `expected ${quote === "'" ? "''" : '\\"'} for a ${quote} inside ${quote}…${quote}, found ${quote}`,
      };
    if (value.includes(quote, 1))
      yield {
        line,
        text: lead + quoted(value),
        column,
        message: `expected nothing after the closing ${quote}, found text`,
      };
  } else if (/^[@`%*&!|>,\]}?]/.test(value)) {
    yield {
      line,
      text: lead + quoted(value),
      column,
      message: `expected quotes around a value that begins with ${quote}`,
    };
  } else if (lead.includes(':') && !/^[[{]/.test(value) && /:\s/.test(value)) {
    yield {line, text: lead + quoted(value), column, message: "expected quotes around a value that contains ': '"};
  }
}

/** A quote or bracket that nobody closed: the error is where the text ends, or where the next one opens. */
function* unclosed(lines: readonly string[], at: number): Generator<Correction> {
  let found = 0;
  for (let line = at; line >= 0 && found < 4; line--) {
    const text = (lines[line] ?? '').trimEnd();
    const [, lead = '', open = '', rest = ''] =
      new RegExp(`^(\\s*(?:- +)*(?:${KEY}:\\s+)?)(["'[{])(.*)$`).exec(text) ?? [];
    if (open === '' || rest.replaceAll(/\\./g, '').includes(closing[open] ?? open)) continue;
    found++;
    yield {
      line,
      text: text + (closing[open] ?? open),
      column: lead.length + 1,
      message: `expected ${closing[open] ?? open} at the end of what begins with ${open}, found none`,
    };
  }
}

const closing: Record<string, string> = {'[': ']', '{': '}'};

function* missingDash(lines: readonly string[], line: number): Generator<Correction> {
  const text = lines[line] ?? '';
  const above = neighbour(lines, line, -1);
  const lead = ' '.repeat(indentOf(text));
  if (above === undefined || text.trimStart().startsWith('-') || !lines[above]?.startsWith(`${lead}- `)) return;
  yield {
    line,
    text: `${lead}- ${text.trimStart()}`,
    column: lead.length + 1,
    message: "missing '- ' before an item of the list",
  };
}

function* indentation(lines: readonly string[], line: number): Generator<Correction> {
  const text = lines[line] ?? '';
  const width = indentOf(text);
  if (text.trim() === '') return;
  for (const wanted of widthsNear(lines, line, width)) {
    if (wanted === width) continue;
    yield {
      line,
      text: ' '.repeat(wanted) + text.trimStart(),
      column: width + 1,
      message: `wrong indentation: expected ${spaces(wanted)}, found ${width}`,
      hint: `indent the line with ${spaces(wanted)}, as its neighbours`,
    };
  }
}

/** Columns at which lines nearby begin, dashes included or not; those nearest to `width` first. */
function widthsNear(lines: readonly string[], line: number, width: number): number[] {
  const widths = new Set<number>();
  for (const step of [-1, 1] as const)
    for (
      let at = neighbour(lines, line, step), n = 0;
      at !== undefined && n < 4;
      at = neighbour(lines, at, step), n++
    ) {
      const text = lines[at] ?? '';
      widths.add(indentOf(text)).add(/^\s*(?:- +)*/.exec(text)?.[0].length ?? 0);
    }
  return [...widths].sort((a, b) => Math.abs(a - width) - Math.abs(b - width)).slice(0, 5);
}

/** The next line up or down that is neither blank nor a comment. */
function neighbour(lines: readonly string[], line: number, step: 1 | -1): number | undefined {
  for (let at = line + step; at >= 0 && at < lines.length; at += step)
    if (!/^\s*(?:#|$)/.test(lines[at] ?? '')) return at;
  return undefined;
}

function indentOf(text: string): number {
  return /^\s*/.exec(text)?.[0].length ?? 0;
}

function quoted(value: string): string {
  return value.includes("'") ? JSON.stringify(value.trimEnd()) : `'${value.trimEnd()}'`;
}

function spaces(count: number): string {
  return count === 0 ? 'no spaces' : count === 1 ? '1 space' : `${count} spaces`;
}

function shown(text: string): string {
  const line = text.trim();
  return line.length > 70 ? `${line.slice(0, 69)}…` : line;
}
