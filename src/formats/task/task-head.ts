import {type Box, type Field, knownFields, type Priority, stateOfBox} from './task.ts';

/** Content of a task's own line after the dash. */
export interface TaskHead {
  box: Box | undefined;
  boxStart: number;
  bare: boolean;
  priority: Priority | undefined;
  names: string[];
  tags: string[];
  title: string;
  fields: Field[];
}

/** Shared empty list, for tasks without names, tags, fields, notes or children. */
export const NONE: never[] = [];

/** The head of an item whose box is unclear. */
export const NO_HEAD: TaskHead = {
  box: undefined,
  boxStart: 0,
  bare: false,
  priority: undefined,
  names: NONE,
  tags: NONE,
  title: '',
  fields: NONE,
};

export type NoTask = {lookalike: boolean; badBox: boolean; at: number};

interface Line {
  line: number;
  start: number;
}

const SPACE = 32;
const TAB = 9;

function isGap(text: string, at: number, end: number): boolean {
  if (at >= end) return true;
  const code = text.charCodeAt(at);
  return code === SPACE || code === TAB;
}

function skipGap(text: string, at: number, end: number): number {
  while (at < end && isGap(text, at, end)) at++;
  return at;
}

function wordEnd(text: string, at: number, end: number): number {
  while (at < end && !isGap(text, at, end)) at++;
  return at;
}

/** Read text[from, end), a list item after its dash. Outside `## TODO` only an item with a box is a task. */
export function readTaskHead(
  text: string,
  from: number,
  end: number,
  inTodo: boolean,
  lineStart: number,
  line: number,
): TaskHead | NoTask {
  let at = skipGap(text, from, end);
  const head: TaskHead = {
    box: undefined,
    boxStart: at,
    bare: false,
    priority: undefined,
    names: NONE,
    tags: NONE,
    title: '',
    fields: NONE,
  };
  if (at >= end) return {lookalike: false, badBox: false, at};
  const first = text.charCodeAt(at);
  if (first === 91 /* [ */) {
    const mark = readBox(text, at, end);
    if (mark === undefined || typeof mark === 'object') {
      if (mark && !inTodo) return mark;
      if (mark) return {...mark, badBox: true};
      if (!inTodo) return {lookalike: false, badBox: false, at};
    } else {
      head.box = mark;
      at = skipGap(text, at + 3, end);
    }
  } else if (!inTodo) return {lookalike: false, badBox: false, at};
  else if ((first === 120 /* x */ || first === 45) /* - */ && at + 1 < end && isGap(text, at + 1, end)) {
    head.box = first === 120 ? 'x' : '-';
    head.bare = true;
    at = skipGap(text, at + 1, end);
  }
  const letter = text.charCodeAt(at);
  if (letter >= 65 && letter <= 68 && isGap(text, at + 1, end)) {
    head.priority = text[at] as Priority;
    at = skipGap(text, at + 1, end);
  }
  at = readNames(text, at, end, head);
  readTitle(text, at, end, head, {line, start: lineStart});
  return head;
}

/** The box at `at`; undefined if there is none; a NoTask if it only looks like one. */
function readBox(text: string, at: number, end: number): Box | NoTask | undefined {
  if (text[at + 1] === ']' && isGap(text, at + 2, end)) return {lookalike: true, badBox: false, at};
  if (text[at + 2] !== ']' || at + 2 >= end) return undefined;
  const mark = text[at + 1] ?? '';
  if (!isGap(text, at + 3, end)) {
    if (!Object.hasOwn(stateOfBox, mark) || text[at + 3] === '(' || text[at + 3] === '[') return undefined;
    return {lookalike: true, badBox: false, at};
  }
  if (Object.hasOwn(stateOfBox, mark)) return mark as Box;
  return {lookalike: !/[\da-z]/i.test(mark) || 'yYvVoO'.includes(mark), badBox: false, at};
}

/** A word that names an agent or person. */
export const NAME_WORD = /^@[A-Za-z0-9][A-Za-z0-9._/@-]*$/;

function readNames(text: string, at: number, end: number, head: TaskHead): number {
  while (at < end) {
    const code = text.charCodeAt(at);
    if (code !== 64 /* @ */ && code !== 35 /* # */) break;
    const stop = wordEnd(text, at, end);
    const word = text.slice(at, stop);
    if (code === 64) {
      if (!NAME_WORD.test(word)) break;
      if (head.names === NONE) head.names = [];
      head.names.push(word.slice(1));
    } else {
      if (word.length < 2 || word.charCodeAt(1) === 35) break;
      if (head.tags === NONE) head.tags = [];
      head.tags.push(word.slice(1));
    }
    at = skipGap(text, stop, end);
  }
  return at;
}

function readTitle(text: string, at: number, end: number, head: TaskHead, line: Line): void {
  let last = end;
  while (last > at && isGap(text, last - 1, last)) last--;
  const quoted = readQuoted(text, at, last);
  if (quoted) {
    const comment = text.startsWith('<!--', skipGap(text, quoted.end, last)) && text.endsWith('-->', last);
    const fields = comment ? [] : readInlineFields(text, quoted.end, last, line);
    if (fields) {
      head.title = quoted.value;
      head.fields = fields;
      return;
    }
  }
  const fields = readFieldsAlone(text, at, last, line);
  if (fields) head.fields = fields;
  else head.title = text.slice(at, last);
}

/**
 * Fields on a line without a title: `title: …` and what follows it, or a known field and values of one word each. Other
 * lines with a colon, such as `Redis: is it up?`, are titles.
 */
function readFieldsAlone(text: string, at: number, end: number, line: Line): Field[] | undefined {
  const fields = at < end ? readInlineFields(text, at, end, line) : undefined;
  const [first] = fields ?? [];
  if (!first || (first.key === 'title' && first.value === '')) return undefined;
  const isPlain = ({valueStart, end: stop}: Field) => /^(?:"[^\n]*"|`[^\n]*`|\S+)$/.test(text.slice(valueStart, stop));
  return first.key === 'title' || (knownFields.has(first.key) && fields?.every(isPlain)) ? fields : undefined;
}

/** The title in a field's value, without its quotes. */
export function titleIn(value: string): string {
  const quoted = readQuoted(value, 0, value.length);
  return quoted?.end === value.length ? quoted.value : value;
}

/** A quoted string that begins at `at` and is followed by a gap; undefined if there is none. */
function readQuoted(text: string, at: number, end: number): {value: string; end: number} | undefined {
  const quote = text[at];
  if (quote === '"') {
    const close = closingQuote(text, at, end);
    if (close === -1 || !isGap(text, close + 1, end)) return undefined;
    return {value: decodeString(text.slice(at, close + 1)) ?? text.slice(at + 1, close), end: close + 1};
  }
  // Search within the line only: searching to the next quote of the file would take quadratic time.
  if (quote === "'") {
    const rest = text.slice(at, end);
    for (let close = rest.indexOf("'", 1); close !== -1; close = rest.indexOf("'", close + 1)) {
      if (isGap(rest, close + 1, rest.length)) return {value: rest.slice(1, close), end: at + close + 1};
    }
    return undefined;
  }
  return quote === '`' ? readTicked(text.slice(at, end), at) : undefined;
}

/** A Markdown code span, closed by as many backticks as opened it. One that a single backtick opened may have others escaped. */
function readTicked(rest: string, at: number): {value: string; end: number} | undefined {
  let open = 0;
  while (rest[open] === '`') open++;
  const escaped = open === 1 ? readEscapedTicks(rest, at) : undefined;
  if (escaped) return escaped;
  for (let close = rest.indexOf('`', open); close !== -1; ) {
    let stop = close;
    while (rest[stop] === '`') stop++;
    if (stop - close === open && isGap(rest, stop, rest.length))
      return {value: rest.slice(open, close), end: at + stop};
    close = rest.indexOf('`', stop);
  }
  return undefined;
}

/** `…\`…\`…`: only if a backtick is escaped, because elsewhere a backslash is a plain character. */
function readEscapedTicks(rest: string, at: number): {value: string; end: number} | undefined {
  const [whole, inner = ''] = /^`((?:[^`\\]|\\.)*)`(?!\S)/.exec(rest) ?? [];
  if (whole === undefined || !inner.includes('\\`')) return undefined;
  return {value: inner.replaceAll('\\`', '`'), end: at + whole.length};
}

/** The `"` that ends the string beginning at `at`, or -1. */
export function closingQuote(text: string, at: number, end: number): number {
  for (let i = at + 1; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === 92 /* \ */) i++;
    else if (code === 34) return i;
  }
  return -1;
}

/** Value of a JSON string; undefined if it is none. */
export function decodeString(source: string): string | undefined {
  if (!source.includes('\\')) return source.length >= 2 && isClean(source) ? source.slice(1, -1) : undefined;
  try {
    const value: unknown = JSON.parse(source);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function isClean(source: string): boolean {
  for (let i = 1; i < source.length - 1; i++) {
    const code = source.charCodeAt(i);
    if (code < 32 || code === 34) return false;
  }
  return true;
}

const KEY = /^[A-Za-z_][A-Za-z0-9_-]*:$/;

/** `key: value key: value` after a quoted title; undefined if there is something else. */
function readInlineFields(text: string, from: number, end: number, line: Line): Field[] | undefined {
  let at = skipGap(text, from, end);
  if (at >= end) return NONE;
  const fields: Field[] = [];
  while (at < end) {
    const stop = wordEnd(text, at, end);
    if (!KEY.test(text.slice(at, stop))) return undefined;
    const valueStart = skipGap(text, stop, end);
    const {value, end: valueEnd} = readInlineValue(text, valueStart, end);
    fields.push({
      key: text.slice(at, stop - 1),
      value,
      line: line.line,
      column: at - line.start + 1,
      start: at,
      valueStart,
      end: valueEnd,
      form: 'inline',
    });
    at = skipGap(text, valueEnd, end);
  }
  return fields;
}

function readInlineValue(text: string, at: number, end: number): {value: string; end: number} {
  if (text[at] === '"') {
    const close = closingQuote(text, at, end);
    const value = close === -1 || !isGap(text, close + 1, end) ? undefined : decodeString(text.slice(at, close + 1));
    if (value !== undefined) return {value, end: close + 1};
  }
  if (text[at] === '`' || text[at] === "'") {
    // A quoted value may have words in it that look like keys.
    const quoted = readQuoted(text, at, end);
    const next = quoted ? skipGap(text, quoted.end, end) : end;
    if (quoted && (next >= end || KEY.test(text.slice(next, wordEnd(text, next, end)))))
      return {value: text.slice(at, quoted.end), end: quoted.end};
  }
  let stop = at;
  for (let word = at; word < end; word = skipGap(text, wordEnd(text, word, end), end)) {
    const wordStop = wordEnd(text, word, end);
    if (KEY.test(text.slice(word, wordStop))) break;
    stop = wordStop;
  }
  return {value: text.slice(at, stop), end: stop};
}
