const WORD = /^(?:true|false|null)$/i;
const words: Record<string, true | false | null | undefined> = {true: true, false: false, null: null};
const WHOLE = /^(?:0|[1-9]\d{0,14})$/;
const DECIMAL = /^(?:0|[1-9]\d{0,8})\.\d{1,6}$/;
/** Characters that occur in no YAML number. */
const NO_NUMBER = /[^0-9a-fA-FxXoO.+_-]/;
/** Escapes that JSON shares, except surrogates. */
const DOUBLE = /^"(?:[^"\\\t]|\\["\\/nrtbf]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4})*"$/;
const MAX_ESCAPED = 10_000;
/** Plain scalars within braces or brackets. */
const FLOW_PLAIN = /^[A-Za-z0-9_./-]+$/;
const SPACE = 32;
const DOUBLE_QUOTE = 34;
const QUOTE = 39;
const COMMA = 44;
const BRACKET = 91;
const BACKSLASH = 92;
const BRACE = 123;
const FLOW_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Read the scalar text[at, end) on one line, without surrounding spaces. Undefined: unusual. */
export function readScalar(text: string, at: number, end: number): string | number | boolean | null | undefined {
  const scalar = text.slice(at, end);
  const first = scalar.charCodeAt(0);
  if (first === QUOTE) return readSingle(scalar);
  if (first === DOUBLE_QUOTE) return readDouble(scalar);
  if (scalar.includes(':') && (scalar.includes(': ') || scalar.endsWith(':'))) return undefined;
  if (scalar.includes(' #') || scalar.includes('\t')) return undefined;
  if (startsText(first)) return isWord(scalar) ? words[scalar] : scalar;
  if (first >= 48 && first <= 57) return readNumber(scalar);
  return undefined;
}

/** Letters, `_`, `/` and `(`: a plain scalar with such a start is text, except for a few words. */
function startsText(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 47 || code === 40;
}

function isWord(text: string): boolean {
  return (text.length === 4 || text.length === 5) && WORD.test(text);
}

function readSingle(scalar: string): string | undefined {
  if (scalar.length < 2 || !scalar.endsWith("'") || scalar.includes('\t')) return undefined;
  const inner = scalar.slice(1, -1);
  if (!inner.includes("'")) return inner;
  return inner.replaceAll("''", '').includes("'") ? undefined : inner.replaceAll("''", "'");
}

function readDouble(scalar: string): string | undefined {
  if (scalar.includes('\\'))
    return scalar.length <= MAX_ESCAPED && DOUBLE.test(scalar) ? (JSON.parse(scalar) as string) : undefined;
  const closed = scalar.length > 1 && scalar.indexOf('"', 1) === scalar.length - 1;
  return closed && !scalar.includes('\t') ? scalar.slice(1, -1) : undefined;
}

/** Starts with a digit: a number, or text such as `3 files` and 2025-10-04. */
function readNumber(scalar: string): string | number | undefined {
  if (WHOLE.test(scalar) || DECIMAL.test(scalar)) return Number(scalar);
  return NO_NUMBER.test(scalar) ? scalar : undefined;
}

/** Read a flow map or list of scalars on one line. Undefined: unusual, or none. */
export function readFlow(text: string, at: number, end: number): Record<string, unknown> | unknown[] | undefined {
  const open = text.charCodeAt(at);
  // The code of each closing bracket is its opening bracket's plus two.
  if ((open !== BRACE && open !== BRACKET) || text.charCodeAt(end - 1) !== open + 2) return undefined;
  const parts = flowParts(text.slice(at + 1, end - 1));
  if (!parts) return undefined;
  return open === BRACE ? flowMap(parts) : flowList(parts);
}

function flowMap(parts: readonly string[]): Record<string, unknown> | undefined {
  const map: Record<string, unknown> = {};
  for (const part of parts) {
    const colon = part.indexOf(': ');
    const key = part.slice(0, colon);
    if (colon < 1 || !FLOW_KEY.test(key) || isWord(key) || key === '__proto__' || Object.hasOwn(map, key))
      return undefined;
    const value = flowScalar(part.slice(colon + 2));
    if (value === undefined) return undefined;
    map[key] = value;
  }
  return map;
}

function flowList(parts: readonly string[]): unknown[] | undefined {
  const list = parts.map(flowScalar);
  return list.includes(undefined) ? undefined : list;
}

function flowScalar(part: string): string | number | boolean | null | undefined {
  const scalar = trimSpaces(part);
  const first = scalar.charCodeAt(0);
  return first === QUOTE || first === DOUBLE_QUOTE || FLOW_PLAIN.test(scalar)
    ? readScalar(scalar, 0, scalar.length)
    : undefined;
}

/** Split at commas outside quotes. */
function flowParts(inner: string): string[] | undefined {
  if (trimSpaces(inner) === '') return [];
  const parts: string[] = [];
  let from = 0;
  let quote = 0;
  for (let at = 0; at < inner.length; at++) {
    const code = inner.charCodeAt(at);
    if (quote) {
      if (quote === DOUBLE_QUOTE && code === BACKSLASH) at++;
      else if (code === quote) quote = 0;
    } else if (code === QUOTE || code === DOUBLE_QUOTE) quote = code;
    else if (code === COMMA) {
      parts.push(trimSpaces(inner.slice(from, at)));
      from = at + 1;
    }
  }
  parts.push(trimSpaces(inner.slice(from)));
  return quote ? undefined : parts;
}

/** Trim spaces only: other white space, such as U+00A0, is text in YAML. */
function trimSpaces(text: string): string {
  let from = 0;
  let to = text.length;
  while (text.charCodeAt(from) === SPACE) from++;
  while (to > from && text.charCodeAt(to - 1) === SPACE) to--;
  return text.slice(from, to);
}
