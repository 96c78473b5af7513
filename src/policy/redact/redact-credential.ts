import {isMixed} from './redact-characters.ts';

const placeholder =
  /x{4}|\*{3}|\.{3}|example|sample|change[_-]?me|placeholder|dummy|redacted|your[_-]|insert[_-]|todo|process\.env|environ|getenv|^env\.|secrets?\.|config\.|import\.meta|\$\{?[A-Za-z_(]|^%|^@|^#|^0x[0-9a-f]{1,8}$/i;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const time = /^\d{4}-\d\d-\d\d(?:$|[T ])/;
/** Only near the start: later there may be another credential. */
const address = /^[\w+.=:-]{0,19}:\/\//;
const code = /^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+$/;
/** Words with digits, like names of types and functions. */
const words = /^(?:[a-z]{2,}\d*)?(?:[A-Z]{1,3}[a-z]{2,}\d*|[A-Z]\d)*$/;
const path = /^(?:~|\.{1,2})?\//;

/** Whether the value of a secret's name is clearly a credential: long, mixed, not code, not a placeholder. */
export function isCredential(value: string): boolean {
  if (value.length < 16 || !isMixed(value) || isSomethingElse(value) || isName(value)) return false;
  // Names, dates and versions have no long part that mixes letters and digits.
  return value.split(/[-_./:]/).some(part => part.length >= 10 && isMixed(part)) && variety(value) >= 8;
}

/** Passwords are shorter, because people choose them: three character classes, or a credential. */
export function isPassword(value: string): boolean {
  if (isCredential(value)) return true;
  if (value.length < 10 || isSomethingElse(value)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/, /[!@#$%^*?~+=]/].filter(kind => kind.test(value)).length;
  return kinds >= 3 && /[0-9]/.test(value) && variety(value) >= 7;
}

function isSomethingElse(value: string): boolean {
  if (placeholder.test(value) || uuid.test(value) || time.test(value) || address.test(value)) return true;
  return code.test(value) || (path.test(value) && !isKeyLike(value));
}

/** At least two words, one of them capitalised. */
function isName(value: string): boolean {
  return words.test(value) && /[a-z]\d*[A-Z]/.test(value);
}

/** Base64 may begin with a slash, too. */
function isKeyLike(value: string): boolean {
  return value.length >= 32 && /[a-z]/.test(value) && /[A-Z]/.test(value) && /[0-9]/.test(value);
}

function variety(value: string): number {
  return new Set(value).size;
}

/** Shorter keys would match ordinary text. */
export const SHORTEST_KEY = 8;

/** Placeholders that people use where a program, but not the server, wants a key. */
export function standsForNone(key: string): boolean {
  return /^(?:sk-)?(?:(?:not?|un)[-_ ]?(?:key|api[-_ ]?key|needed|required|necessary|used|set)|none|dummy|fake|placeholder|ignored|anything|whatever|example|ollama|lm[-_ ]?studio|local(?:host)?|x+)(?:[-_ ]?(?:key|api[-_ ]?key|token|needed|required|necessary))*$/i.test(
    key,
  );
}

/**
 * Whether to redact the value of a variable in all texts. Not if it has fewer than 8 characters, nor if it is a word,
 * dashed words, a number, a path, or an address without password: these occur in ordinary texts.
 */
export function isWorthHiding(value: string): boolean {
  if (value.length < SHORTEST_KEY) return false;
  if (value.length < 24 && /^[a-z]+(?:[-_. ][a-z]+)*$/i.test(value) && !/[a-z][A-Z].*[a-z][A-Z]/.test(value))
    return false;
  if (value.length < 16 && /^[\d.,:+/ -]+$/.test(value)) return false;
  if (/^[\w.-]+:\d{1,5}$/.test(value) && !isMixed(value.replace(/:\d+$/, ''))) return false;
  if (/^(?:~|\.{1,2})?(?:\/[\w.@+ -]+)+\/?$/.test(value) && !isKeyLike(value)) return false;
  return !/^[a-z][a-z0-9+.-]*:\/\/[^@\s]*$/i.test(value);
}
