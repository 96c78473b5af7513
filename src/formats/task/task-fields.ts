import {columnOf, dedent} from '../common/task-lines.ts';
import {type Field, knownFields} from './task.ts';
import {closingQuote, decodeString} from './task-head.ts';

const keys = [...knownFields];
const keysByLength: number[][] = [];
for (const [index, key] of keys.entries()) keysByLength[key.length] = [...(keysByLength[key.length] ?? []), index];

/** Index of the known field named text[at, end), without creating a string; otherwise -1. */
export function knownKey(text: string, at: number, end: number): number {
  const candidates = keysByLength[end - at];
  if (candidates) for (const index of candidates) if (text.startsWith(keys[index] as string, at)) return index;
  return -1;
}

export function keyNamed(known: number): string {
  return keys[known] ?? '';
}

export const ID = keys.indexOf('id');
export const DUE = keys.indexOf('due');
export const NOTES = keys.indexOf('notes');
export const TITLE = keys.indexOf('title');
export const PRIORITY = keys.indexOf('priority');

/** Columns of a row. */
const START = 0;
const KEY_END = 1;
const VALUE = 2;
const END = 3;
const LINE = 4;
const KNOWN = 5;
const NEXT = 6;
const STRIDE = 7;
/** Added to KNOWN for a block. */
const BLOCK = 1000;

/**
 * Fields of all tasks of a file, as numbers: a file of 10,000 tasks has 40,000 fields, of which few are used, and
 * objects would cost more than the rest of the parse. A task's fields form a chain of rows.
 */
export class FieldTable {
  readonly text: string;
  #rows = new Int32Array(STRIDE * 64);
  #length = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Add a row, chained behind `previous` (-1: the first of its task). */
  add(
    previous: number,
    start: number,
    keyEnd: number,
    value: number,
    end: number,
    line: number,
    known: number,
    block: boolean,
  ): number {
    const row = this.#length;
    if (row + STRIDE > this.#rows.length) {
      const larger = new Int32Array(this.#rows.length * 2);
      larger.set(this.#rows);
      this.#rows = larger;
    }
    const rows = this.#rows;
    rows[row + START] = start;
    rows[row + KEY_END] = keyEnd;
    rows[row + VALUE] = value;
    rows[row + END] = end;
    rows[row + LINE] = line;
    rows[row + KNOWN] = block ? known + BLOCK : known;
    rows[row + NEXT] = -1;
    this.#length = row + STRIDE;
    if (previous !== -1) rows[previous + NEXT] = row;
    return row;
  }

  extend(row: number, end: number): void {
    this.#rows[row + END] = end;
  }

  /** Fields of the chain that starts at `row`. */
  read(row: number): Field[] {
    const fields: Field[] = [];
    for (let at = row; at !== -1; at = this.#rows[at + NEXT] as number) fields.push(this.#field(at));
    return fields;
  }

  /** Value of the first field named `key` in the chain that starts at `row`. */
  find(row: number, key: string): string | undefined {
    const rows = this.#rows;
    for (let at = row; at !== -1; at = rows[at + NEXT] as number) {
      const start = rows[at + START] as number;
      const same = (rows[at + KEY_END] as number) - start === key.length && this.text.startsWith(key, start);
      if (same) return this.value(at);
    }
    return undefined;
  }

  value(row: number): string {
    const block = (this.#rows[row + KNOWN] as number) >= BLOCK - 1;
    const [start, end] = [this.#rows[row + VALUE] as number, this.#rows[row + END] as number];
    return block ? blockValue(this.text, start, end) : lineValue(this.text, start, end);
  }

  #field(row: number): Field {
    const rows = this.#rows;
    const [start, keyEnd] = [rows[row + START] as number, rows[row + KEY_END] as number];
    const lineStart = this.text.lastIndexOf('\n', start - 1) + 1;
    const bom = lineStart === 0 && this.text.charCodeAt(0) === 0xfeff ? 1 : 0;
    return {
      key: this.text.slice(start, keyEnd),
      value: this.value(row),
      line: rows[row + LINE] as number,
      column: start - lineStart - bom + 1,
      start,
      valueStart: rows[row + VALUE] as number,
      end: rows[row + END] as number,
      form: (rows[row + KNOWN] as number) >= BLOCK - 1 ? 'block' : 'line',
    };
  }
}

/** Rest of a line without trailing white space; JSON strings are decoded. */
function lineValue(text: string, start: number, end: number): string {
  let last = end;
  while (last > start && text.charCodeAt(last - 1) <= 32) last--;
  const raw = text.slice(start, last);
  if (raw.charCodeAt(0) !== 34 || closingQuote(raw, 0, raw.length) !== raw.length - 1) return raw;
  return decodeString(raw) ?? raw;
}

/** Lines of a block without common indentation and trailing blank lines. */
function blockValue(text: string, from: number, end: number): string {
  const newline = text.indexOf('\n', from);
  if (newline === -1 || newline >= end) return '';
  const lines = text.slice(newline + 1, end).split('\n');
  let indent = Number.POSITIVE_INFINITY;
  for (const line of lines) if (line.trim() !== '') indent = Math.min(indent, columnOf(line));
  return lines.map(line => dedent(line.endsWith('\r') ? line.slice(0, -1) : line, indent)).join('\n');
}
