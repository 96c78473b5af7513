import {readFlow, readScalar} from './yaml-plain-scalar.ts';

/** Beyond these limits the full reader reports what is wrong, if anything. */
const MAX_LENGTH = 400_000;
const MAX_DEPTH = 20;

/** Offsets of a value and, in a map, its key. */
export interface Spot {
  key: number | undefined;
  value: number;
}

/** Positions of the entries of each block map and list. For others use the full reader. */
export type Places = Map<unknown, Map<string | number, Spot>>;

/** Reader position: on a non-blank line, or at the end (`indent` -1). */
interface Cursor {
  readonly text: string;
  readonly places: Places | undefined;
  indent: number;
  /** Start of what is to be read on this line. */
  start: number;
  /** End of the line, without its "\n". */
  end: number;
  /** Start of the value of the last key; -1 if there is none. */
  value: number;
}

/**
 * Read the simple YAML of nearly all sessions: block maps and lists, scalars on one line, literal blocks, folded
 * paragraphs, small flow maps and lists, comments on lines of their own. Returns exactly the full reader's value, or
 * undefined, in which case the text may still be valid YAML. A hundred times as fast. A wrong result would be far worse
 * than a slow one, so anything unusual is left to the full reader.
 */
export function readPlainYaml(text: string, places?: Places): {value: unknown} | undefined {
  if (text.length > MAX_LENGTH || !text.endsWith('\n') || ODD.test(text)) return undefined;
  const cursor: Cursor = {text, places, indent: 0, start: 0, end: 0, value: -1};
  advance(cursor, 0);
  const value = cursor.indent === -1 ? undefined : readBlock(cursor, 0);
  return value === undefined || cursor.indent !== -1 ? undefined : {value};
}

/** Control characters except tab and newline, byte order marks, and what some readers treat as a line end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
const ODD = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]/;
const TAB = 9;
const SPACE = 32;
const HASH = 35;
const DASH = 45;
const COLON = 58;
const GREATER = 62;
const BAR = 124;

/** Move to the next line that is neither blank nor a comment. */
function advance(cursor: Cursor, from: number): void {
  const {text} = cursor;
  for (let line = from; line < text.length; ) {
    let at = line;
    while (text.charCodeAt(at) === SPACE) at++;
    const end = text.indexOf('\n', at);
    if (at !== end && text.charCodeAt(at) !== HASH) {
      cursor.indent = at - line;
      cursor.start = at;
      cursor.end = end;
      return;
    }
    line = end + 1;
  }
  cursor.indent = -1;
}

// Each function below reads from the cursor and leaves it on the first line that is not its own. Undefined: unusual.

function readBlock(cursor: Cursor, depth: number): unknown {
  if (depth > MAX_DEPTH) return undefined;
  return isItem(cursor) ? readList(cursor, depth) : readMap(cursor, depth);
}

function isItem({text, start}: Cursor): boolean {
  return text.charCodeAt(start) === DASH && text.charCodeAt(start + 1) === SPACE;
}

function readList(cursor: Cursor, depth: number): unknown[] | undefined {
  const {text, indent, places} = cursor;
  const list: unknown[] = [];
  const spots = places && new Map<string | number, Spot>();
  if (spots) places.set(list, spots);
  while (cursor.indent === indent && isItem(cursor)) {
    let at = cursor.start + 2;
    while (text.charCodeAt(at) === SPACE) at++;
    let item: unknown;
    const colon = keyEnd(text, at);
    if (colon !== -1 && isKeyGap(text, colon + 1, cursor.end)) {
      cursor.indent += at - cursor.start;
      cursor.start = at;
      item = readMap(cursor, depth + 1);
    } else item = readLine(cursor, at, indent);
    if (item === undefined || cursor.indent > indent) return undefined;
    spots?.set(list.length, {key: undefined, value: at});
    list.push(item);
  }
  return list;
}

function readMap(cursor: Cursor, depth: number): Record<string, unknown> | undefined {
  const {text, indent, places} = cursor;
  if (depth > MAX_DEPTH) return undefined;
  const map: Record<string, unknown> = {};
  const spots = places && new Map<string | number, Spot>();
  if (spots) places.set(map, spots);
  while (cursor.indent === indent) {
    const colon = keyEnd(text, cursor.start);
    if (colon === -1 || !isKeyGap(text, colon + 1, cursor.end)) return undefined;
    const written = text.slice(cursor.start, colon);
    const usual = usualKeys.get(written);
    const key = usual ?? written;
    if ((!usual && isReserved(key)) || Object.hasOwn(map, key)) return undefined;
    const start = cursor.start;
    const item = readEntry(cursor, colon + 1, indent, depth);
    if (item === undefined || cursor.indent > indent) return undefined;
    spots?.set(key, {key: start, value: cursor.value});
    map[key] = item;
  }
  return map;
}

/** Value of a key, from after its colon. */
function readEntry(cursor: Cursor, from: number, indent: number, depth: number): unknown {
  const {text, end} = cursor;
  if (from === end) {
    advance(cursor, end + 1);
    // A list may be in the same column as its key.
    const deeper = cursor.indent > indent || (cursor.indent === indent && isItem(cursor));
    const start = deeper ? cursor.start : -1;
    const value = deeper ? readBlock(cursor, depth + 1) : null;
    cursor.value = start;
    return value;
  }
  let at = from;
  while (text.charCodeAt(at) === SPACE) at++;
  cursor.value = at;
  const first = text.charCodeAt(at);
  if (first === BAR) return readLiteral(cursor, at, indent);
  return first === GREATER ? readFolded(cursor, at, indent) : readLine(cursor, at, indent);
}

/** Read a value on the rest of the line. A deeper line below would continue it. */
function readLine(cursor: Cursor, at: number, indent: number): unknown {
  const {text} = cursor;
  let end = cursor.end;
  while (end > at && text.charCodeAt(end - 1) === SPACE) end--;
  if (at === end) return undefined;
  const value = readFlow(text, at, end) ?? readScalar(text, at, end);
  advance(cursor, cursor.end + 1);
  return cursor.indent > indent ? undefined : value;
}

function readLiteral(cursor: Cursor, at: number, indent: number): string | undefined {
  const {text} = cursor;
  const head = text.slice(at, cursor.end);
  if (head !== '|' && head !== '|-' && head !== '|+') return undefined;
  let content = '';
  let blanks = 0;
  let width = -1;
  let line = cursor.end + 1;
  while (line < text.length) {
    let from = line;
    while (text.charCodeAt(from) === SPACE) from++;
    const end = text.indexOf('\n', from);
    if (from === end) {
      // Spaces of a blank line may or may not count.
      if (width === -1 || from !== line) return undefined;
      blanks++;
    } else {
      const deep = from - line;
      if (text.charCodeAt(from) === TAB) return undefined;
      if (width === -1 && deep > indent) width = deep;
      if (width === -1 || (deep < width && deep > indent)) return undefined;
      if (deep < width) break;
      content += `${'\n'.repeat(blanks)}${text.slice(line + width, end + 1)}`;
      blanks = 0;
    }
    line = end + 1;
  }
  if (width === -1) return undefined;
  advance(cursor, line);
  return head === '|' ? content : head === '|-' ? content.slice(0, -1) : content + '\n'.repeat(blanks);
}

/** A paragraph: consecutive lines of equal indentation, without trailing spaces. */
function readFolded(cursor: Cursor, at: number, indent: number): string | undefined {
  const {text} = cursor;
  if (text.slice(at, cursor.end) !== '>-') return undefined;
  const lines: string[] = [];
  let ended = false;
  let width = -1;
  let line = cursor.end + 1;
  while (line < text.length) {
    let from = line;
    while (text.charCodeAt(from) === SPACE) from++;
    const end = text.indexOf('\n', from);
    const deep = from - line;
    if (from !== end && deep <= indent) break;
    if (from === end) {
      if (deep > 0 || width === -1) return undefined;
      ended = true;
    } else {
      if (width === -1) width = deep;
      if (ended || deep !== width || /^\t|[ \t]$/.test(text.slice(from, end))) return undefined;
      lines.push(text.slice(from, end));
    }
    line = end + 1;
  }
  if (lines.length === 0) return undefined;
  advance(cursor, line);
  return lines.join(' ');
}

/** Position of the colon of a plain key at `at`; -1 if there is none. */
function keyEnd(text: string, at: number): number {
  if (!isKeyStart(text.charCodeAt(at))) return -1;
  let end = at + 1;
  for (let code = text.charCodeAt(end); isKeyStart(code) || (code >= 48 && code <= 57) || code === DASH; ) {
    code = text.charCodeAt(++end);
  }
  return text.charCodeAt(end) === COLON && end - at < 200 ? end : -1;
}

function isKeyStart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
}

function isKeyGap(text: string, at: number, end: number): boolean {
  return at === end || text.charCodeAt(at) === SPACE;
}

/** Keys of sessions. Reusing the same string object makes map access several times as fast. */
const usualKeys = new Map(
  [
    ...['session_id', 'agent_id', 'agent_type', 'model', 'system_prompt', 'created', 'updated', 'status', 'messages'],
    ...['timestamp', 'role', 'from', 'content', 'usage', 'tool_calls', 'tool_call_id', 'id', 'type', 'function'],
  ].map(key => [key, key]),
);

/** Keys that are not text in YAML, and the one that is special in JavaScript. */
function isReserved(key: string): boolean {
  if (key.length === 4 || key.length === 5) return /^(?:true|false|null)$/i.test(key);
  return key === '__proto__';
}
