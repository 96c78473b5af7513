import {needsEscape} from '../common/visible.ts';
import {TIME} from './yaml-text.ts';

/** Limit on nesting; also ends recursion for a value that contains itself. */
const MAX_INDENT = 40;
const KEY = /^[A-Za-z_][A-Za-z0-9_-]{0,60}$/;
/** Characters that never need escapes. */
const ASCII = /^[\t\n\x20-\x7e]*$/;
/** Texts that need quotes: indicators, `: `, ` #`, surrounding spaces; and the words of YAML 1.1. */
const NOT_PLAIN = /^[\t ,[\]{}#&*!|>'"%@`]|^[?-]$|^[?-][\t ]|:[\t ]|[\t ]#|[\t :]$/;
const WORD = /^(?:y|n|yes|no|on|off|true|false|null|~|)$/i;
/** Covers the numbers, dates and times of YAML 1.1 and 1.2, and the key `<<`. */
const MAYBE_OTHER =
  /^(?:[-+]?[\d._][\d._:]*(?:[eE][-+]?\d+)?|[-+]?[eE][-+]?\d+|[-+]?0[xXoObB].*|[-+]?\.[A-Za-z]{3}|\d{4}-\d.*|<<)$/;
const BLANK_END = /\n[\t ]*$/;
const DECIMAL = /^\d+\.\d+$/;

/**
 * Write a list of `value` alone, indented: the output of `yamlText`, byte for byte, but without the library. Handles
 * maps with plain keys, lists of such maps, and text that is plain, quoted or a literal block. Undefined for anything
 * else, which is left to `yamlText`. A test compares the two.
 */
export function plainItemText(value: unknown, indent: string): string | undefined {
  if (!isPlainObject(value)) return undefined;
  const entries = entriesText(value, `${indent}  `);
  return entries && `${indent}- ${entries.slice(indent.length + 2)}`;
}

export function plainEntryText(key: string, value: unknown, indent: string): string | undefined {
  if (!KEY.test(key) || WORD.test(key) || MAYBE_OTHER.test(key) || indent.length > MAX_INDENT) return undefined;
  if (Array.isArray(value)) {
    if (value.length === 0) return `${indent}${key}: []\n`;
    let text = `${indent}${key}:\n`;
    for (const item of value) {
      const lines = plainItemText(item, `${indent}  `);
      if (lines === undefined) return undefined;
      text += lines;
    }
    return text;
  }
  if (isPlainObject(value)) {
    const entries = entriesText(value, `${indent}  `);
    return entries && `${indent}${key}:\n${entries}`;
  }
  const text = typeof value === 'string' && value.includes('\n') ? literalText(value, indent) : plainScalarText(value);
  return text === undefined ? undefined : `${indent}${key}: ${text}\n`;
}

export function plainScalarText(value: unknown): string | undefined {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0)) return String(value);
    return DECIMAL.test(String(value)) ? String(value) : undefined;
  }
  if (typeof value !== 'string' || value.includes('\n') || isOdd(value)) return undefined;
  if (TIME.test(value)) return singleQuoted(value);
  if (NOT_PLAIN.test(value) || WORD.test(value))
    return value.includes("'") && !value.includes('"') ? JSON.stringify(value) : singleQuoted(value);
  return MAYBE_OTHER.test(value) ? undefined : value;
}

/** Whether a text has characters that must be escaped. */
export function isOdd(text: string): boolean {
  return !ASCII.test(text) && needsEscape(text);
}

export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function entriesText(map: Record<string, unknown>, indent: string): string | undefined {
  let text = '';
  for (const key of Object.keys(map)) {
    if (map[key] === undefined) continue;
    const entry = plainEntryText(key, map[key], indent);
    if (entry === undefined) return undefined;
    text += entry;
  }
  return text === '' ? undefined : text;
}

/** Undefined if the first line or the end needs an indicator. */
function literalText(text: string, indent: string): string | undefined {
  const ended = text.endsWith('\n');
  const content = ended ? text.slice(0, -1) : text;
  if (content.startsWith(' ') || content.startsWith('\t') || isOdd(content)) return undefined;
  if (content.slice(0, text.indexOf('\n')).trim() === '' || BLANK_END.test(content)) return undefined;
  return `${ended ? '|' : '|-'}\n${indent}  ${content.replace(/\n+/g, `$&${indent}  `)}`;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
