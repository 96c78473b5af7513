import {readScalar} from './yaml-plain-scalar.ts';
import {isOdd, plainEntryText, plainScalarText, singleQuoted} from './yaml-plain-text.ts';
import type {Path} from './yaml-source.ts';

/** A key of a block map or an item of a block list, with its own lines. */
interface Part {
  /** Name of a key; '' for an item. */
  name: string;
  /** Start of its first line, and of the line after its last. */
  start: number;
  end: number;
  /** Start of the value, after the colon or dash. */
  from: number;
}

const KEY_LINE = /([A-Za-z_][A-Za-z0-9_-]*):(?=[ \n])/y;
const SPACE = 32;
const NEWLINE = 10;
const HASH = 35;
const DASH = 45;

/**
 * Set or remove (undefined) keys of the block map at `path`, where each is a scalar on its own line or is new. A new
 * key goes above the key `before`, or last. Only these lines change, and are as `editYaml` would write them. Undefined
 * for anything unusual. Goes by indentation alone: the caller must parse the result and check its meaning.
 */
export function editPlainYaml(
  text: string,
  path: Path,
  keys: Readonly<Record<string, unknown>>,
  before?: string,
): string | undefined {
  if (!text.endsWith('\n') || text.includes('\r') || text.charCodeAt(0) === 0xfeff) return undefined;
  let result = text;
  for (const [key, value] of Object.entries(keys)) {
    const edited = editKey(result, path, key, value, before);
    if (edited === undefined) return undefined;
    result = edited;
  }
  return result;
}

/** Keys to set in one item of a list. */
export interface ItemKeys {
  item: number;
  keys: Readonly<Record<string, unknown>>;
}

/** `editPlainYaml` for several items of the list at `list`, in ascending order. Reads the list once. */
export function editPlainItems(text: string, list: Path, changes: readonly ItemKeys[]): string | undefined {
  if (!text.endsWith('\n') || text.includes('\r') || text.charCodeAt(0) === 0xfeff) return undefined;
  const items = blockAt(text, list);
  if (items?.[0]?.name !== '') return undefined;
  const pieces: string[] = [];
  let at = 0;
  for (const {item, keys} of changes) {
    const part = items[item];
    if (!part || part.start < at) return undefined;
    const edited = editPlainYaml(text.slice(part.start, part.end), [0], keys);
    if (edited === undefined) return undefined;
    pieces.push(text.slice(at, part.start), edited);
    at = part.end;
  }
  return pieces.join('') + text.slice(at);
}

function editKey(text: string, path: Path, key: string, value: unknown, before?: string): string | undefined {
  const parts = partsAt(text, path);
  if (!parts) return undefined;
  const part = parts.find(({name}) => name === key);
  if (part) return value === undefined ? withoutLine(text, part) : withValue(text, part, value);
  if (value === undefined) return text;
  const index = before === undefined ? parts.length : parts.findIndex(({name}) => name === before);
  const previous = parts[index - 1];
  if (!previous || !endsPlainly(text, previous)) return undefined;
  const lines = plainEntryText(key, value, ' '.repeat(columnOf(previous)));
  return lines && text.slice(0, previous.end) + lines + text.slice(previous.end);
}

function withValue(text: string, part: Part, value: unknown): string | undefined {
  const place = scalarOf(text, part);
  if (!place) return undefined;
  const written = scalarLike(text.charAt(place.start), value);
  return written && text.slice(0, place.start) + written + text.slice(place.end);
}

/** Keep the quotes of the old value, if any. */
function scalarLike(quote: string, value: unknown): string | undefined {
  if (typeof value === 'string' && !value.includes('\n') && !isOdd(value)) {
    if (quote === "'") return singleQuoted(value);
    if (quote === '"') return JSON.stringify(value);
  }
  return plainScalarText(value);
}

function withoutLine(text: string, part: Part): string | undefined {
  // The first key of a list item comes after the dash.
  if (!scalarOf(text, part) || contentOf(text, part.start) - part.start !== columnOf(part)) return undefined;
  return text.slice(0, part.start) + text.slice(text.indexOf('\n', part.start) + 1);
}

/** Range of the value, if it is a scalar on the same line, followed only by comments and blank lines. */
function scalarOf(text: string, {from, end}: Part): {start: number; end: number} | undefined {
  const lineEnd = text.indexOf('\n', from);
  let start = from;
  while (text.charCodeAt(start) === SPACE) start++;
  let stop = lineEnd;
  while (stop > start && text.charCodeAt(stop - 1) === SPACE) stop--;
  if (start === stop || readScalar(text, start, stop) === undefined) return undefined;
  for (let line = lineEnd + 1; line < end; line = text.indexOf('\n', line) + 1) {
    const code = text.charCodeAt(contentOf(text, line));
    if (code !== NEWLINE && code !== HASH) return undefined;
  }
  return {start, end: stop};
}

/** Whether the last line is certainly its own: neither blank nor possibly a comment. */
function endsPlainly(text: string, {start, end}: Part): boolean {
  const last = Math.max(start, text.lastIndexOf('\n', end - 2) + 1);
  const code = text.charCodeAt(contentOf(text, last));
  return code !== NEWLINE && code !== HASH;
}

function partsAt(text: string, path: Path): Part[] | undefined {
  const parts = blockAt(text, path);
  return parts?.[0]?.name === '' ? undefined : parts;
}

/** Keys of the map, or items of the list, at `path`. */
function blockAt(text: string, path: Path): Part[] | undefined {
  let parts = partsOf(text, 0, text.length, undefined);
  for (const step of path) {
    const part = typeof step === 'number' ? parts?.[step] : parts?.find(({name}) => name === step);
    if (!part || (typeof step === 'number') !== (part.name === '')) return undefined;
    parts =
      part.name === ''
        ? partsOf(text, part.start, part.end, contentOf(text, part.from) - part.start)
        : text.charCodeAt(part.from) === NEWLINE
          ? partsOf(text, part.from + 1, part.end, undefined)
          : undefined;
  }
  return parts;
}

/**
 * Keys or items of a block between two lines. With `column`, the first key is in that column of the first line, after a
 * dash. Deeper lines belong to the part above.
 */
function partsOf(text: string, start: number, end: number, column: number | undefined): Part[] | undefined {
  const parts: Part[] = [];
  let at = column;
  for (let line = start; line < end; line = text.indexOf('\n', line) + 1) {
    const first = parts.length === 0 && column !== undefined;
    const content = first ? line + column : contentOf(text, line);
    const code = text.charCodeAt(content);
    if (code === NEWLINE || (!first && (code === HASH || (at !== undefined && content - line > at)))) continue;
    at ??= content - line;
    if (content - line < at) return undefined;
    const previous = parts.at(-1);
    const item = code === DASH && text.charCodeAt(content + 1) === SPACE;
    // A list may be in the same column as its key.
    if (item && previous && previous.name !== '') continue;
    const part = item ? {name: '', from: content + 1} : keyAt(text, content);
    if (!part || (previous && (previous.name === '') !== item)) return undefined;
    if (previous) previous.end = line;
    parts.push({...part, start: line, end});
  }
  return parts;
}

function keyAt(text: string, at: number): {name: string; from: number} | undefined {
  KEY_LINE.lastIndex = at;
  const found = KEY_LINE.exec(text);
  return found ? {name: found[1] ?? '', from: at + found[0].length} : undefined;
}

function contentOf(text: string, line: number): number {
  let at = line;
  while (text.charCodeAt(at) === SPACE) at++;
  return at;
}

function columnOf({start, from, name}: Part): number {
  return from - 1 - name.length - start;
}
