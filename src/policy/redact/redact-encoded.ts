import {afterBreak} from './redact-characters.ts';

export const NO = -1;
/** The text ends before a match is certain. */
export const END = -2;

/** An encoding of a value. */
export interface Form {
  anchors: string[];
  /** End of the value that begins at `at`; or NO, END. */
  walk: (text: string, at: number, final: boolean) => number;
}

const TO_STANDARD: Readonly<Record<string, string>> = {'-': '+', _: '/'};

/**
 * Base64 of a text with the value after `before` bytes (modulo 3): the part that does not depend on neighbouring bytes,
 * in either alphabet, with line breaks anywhere.
 */
export function base64(bytes: Uint8Array, before: number): Form {
  const all = btoa(String.fromCharCode(...new Uint8Array(before), ...bytes));
  const whole = Math.floor(((before + bytes.length) * 8) / 6);
  const inner = all.slice([0, 2, 3][before], whole);
  const open = (before + bytes.length) % 3 !== 0;
  return {
    anchors: beginnings64(inner.slice(0, 3)),
    walk(text, at, final) {
      let i = at;
      for (let n = 0; n < inner.length; n++) {
        if (n > 0) {
          const after = afterBreak(text, i, false);
          if (after === undefined) return END;
          i = after;
        }
        i = afterDigit(text, i, inner.charAt(n));
        if (i < 0) return i;
      }
      return open ? afterPadding(text, i, final) : i;
    },
  };
}

const ENCODED: Readonly<Record<string, readonly string[]>> = {
  '+': ['-', '%2B', '%2b', '\\u002b', '\\u002B'],
  '/': ['_', '%2F', '%2f', '\\/', '\\\\/'],
};

function beginnings64(inner: string): string[] {
  if (inner === '') return [''];
  const first = inner.charAt(0);
  const more = beginnings64(inner.slice(1));
  return [first, ...(ENCODED[first] ?? [])].flatMap(start => more.map(rest => (start + rest).slice(0, 3)));
}

function afterDigit(text: string, i: number, digit: string): number {
  if (i >= text.length) return END;
  const there = text.charAt(i);
  if (there === digit || TO_STANDARD[there] === digit) return i + 1;
  for (const written of ENCODED[digit] ?? []) {
    if (text.startsWith(written, i)) return i + written.length;
    if (i + written.length > text.length && written.startsWith(text.slice(i))) return END;
  }
  return NO;
}

/** Skip the digit that the value shares with what follows, and "=". */
function afterPadding(text: string, from: number, final: boolean): number {
  const i = /[\w+/-]/.test(text.charAt(from)) ? from + 1 : from;
  if (i + 6 > text.length && !final) return END;
  return i + (/^(?:=|%3[Dd]){0,2}/.exec(text.slice(i, i + 6))?.[0].length ?? 0);
}

/** Bytes as hexadecimal or decimal numbers, with or without separators: `736b`, `73:6b`, `\x73\x6b`, `[115, 107`. */
export function numbers(bytes: Uint8Array, base: 10 | 16): Form {
  const written = [...bytes].map(byte => (base === 16 ? byte.toString(16).padStart(2, '0') : String(byte)));
  const [first = '', second = ''] = written;
  const apart = [':', ' ', '-', ',', '\\', '\n', '\r'].map(between => `${first}${between}${second}  `.slice(0, 3));
  return {
    anchors: base === 16 ? [...apart, (first + second).slice(0, 3)] : apart,
    walk(text, at) {
      let i = at;
      for (const [n, number] of written.entries()) {
        if (n > 0) {
          const after = afterBetween(text, i, base);
          if (after < 0) return after;
          i = after;
        }
        const there = text.slice(i, i + number.length).toLowerCase();
        if (there !== number) return there.length < number.length && number.startsWith(there) ? END : NO;
        i += number.length;
      }
      return i;
    },
  };
}

function afterBetween(text: string, from: number, base: 10 | 16): number {
  let i = afterBreak(text, from, false) ?? END;
  if (i < 0) return END;
  const most = i + 12;
  while (i < most && i < text.length && ' \t\r\n:,-'.includes(text.charAt(i))) i++;
  if (base === 10) return i === from ? (i >= text.length ? END : NO) : i;
  const next = text.charAt(i + 1).toLowerCase();
  if (i + 1 >= text.length) return END;
  return (text.charAt(i) === '0' || text.charAt(i) === '\\') && next === 'x' ? i + 2 : i;
}
