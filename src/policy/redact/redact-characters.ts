/** Character classes, combined with `|`. */
const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 4;
const UNDERSCORE = 8;
const DASH = 16;
const DOT = 32;
const SLASH = 64;
const PLUS = 128;
const EQUALS = 256;
const TILDE = 512;
const HEX = 1024;

const LETTER = LOWER | UPPER;
export const ALNUM = LETTER | DIGIT;
export const WORD = ALNUM | UNDERSCORE;
export const URL64 = WORD | DASH;
export const BASE64 = ALNUM | PLUS | SLASH;
const PADDED = BASE64 | EQUALS;
export const DOTTED = URL64 | DOT;
export const TOKEN68 = DOTTED | PADDED | TILDE;
export const PATH64 = URL64 | PLUS | SLASH;
export const LOWER_HEX = HEX;
export const NAME_CHARACTER = URL64;

const kinds = new Uint16Array(128);
const mark = (characters: string, kind: number) => {
  for (const character of characters) kinds[character.charCodeAt(0)] = (kinds[character.charCodeAt(0)] ?? 0) | kind;
};
mark('abcdefghijklmnopqrstuvwxyz', LOWER);
mark('ABCDEFGHIJKLMNOPQRSTUVWXYZ', UPPER);
mark('0123456789', DIGIT);
mark('0123456789abcdef', HEX);
mark('_', UNDERSCORE);
mark('-', DASH);
mark('.', DOT);
mark('/', SLASH);
mark('+', PLUS);
mark('=', EQUALS);
mark('~', TILDE);

/** Classes of the character at `at`; 0 at the end and for other characters. */
export function characterKinds(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? (kinds[code] ?? 0) : 0;
}

/** End of a run of these classes and the character `also`, at most `limit`. */
export function runEnd(text: string, from: number, allowed: number, limit: number, also?: string): number {
  let at = from;
  const end = Math.min(limit, text.length);
  while (at < end && ((characterKinds(text, at) & allowed) !== 0 || text.charAt(at) === also)) at++;
  return at;
}

/** Whether a text has at least two letters and two digits, unlike words and numbers. */
export function isMixed(text: string): boolean {
  let letters = 0;
  let digits = 0;
  for (let i = 0; i < text.length; i++) {
    const kind = characterKinds(text, i);
    if ((kind & LETTER) !== 0) letters++;
    else if ((kind & DIGIT) !== 0) digits++;
  }
  return letters >= 2 && digits >= 2;
}

/** Whether a word can start here, also after an escape (`\n`, `%3D`) or a terminal colour. Reads 12 characters back. */
export function isStart(text: string, at: number): boolean {
  if (at === 0 || (characterKinds(text, at - 1) & URL64) === 0) return true;
  const escaped = text.charAt(at - 2) === '\\' && 'nrtbf'.includes(text.charAt(at - 1));
  const encoded = text.charAt(at - 3) === '%' && /^[0-9A-Fa-f]{2}$/.test(text.slice(at - 2, at));
  const coloured = text.charAt(at - 1) === 'm' && text.slice(Math.max(0, at - 12), at).includes('\u001b[');
  return escaped || encoded || coloured;
}

/**
 * Position after a line break and following indentation or quote marks; `from` if there is none. The break may be
 * written `\n`, with any number of backslashes. Undefined: more text is needed.
 */
export function afterBreak(text: string, from: number, final: boolean): number | undefined {
  let at = from;
  while (text.charAt(at) === '\\' && at < from + 16) at++;
  if (at > from) {
    if (at >= text.length && !final) return undefined;
    const letter = text.charAt(at);
    if (letter === 'n') return at + 1;
    if (letter !== 'r') return from;
    return at + 1 >= text.length && !final ? undefined : afterBreak(text, at + 1, final);
  }
  if (text.charAt(at) === '\r') at++;
  if (at >= text.length && at > from) return final ? from : undefined;
  if (text.charAt(at) !== '\n') return from;
  at++;
  const most = at + 64;
  while (at < most && ' \t>|'.includes(text.charAt(at)) && at < text.length) at++;
  return at >= text.length && !final ? undefined : at;
}
