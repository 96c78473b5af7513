import {characterKinds, DOTTED, NAME_CHARACTER, runEnd, TOKEN68, WORD} from './redact-characters.ts';
import {isCredential, isPassword} from './redact-credential.ts';
import {LOOKBEHIND, lowerCase, type Matcher, MORE} from './redact-scan.ts';

/** Endings of names whose values are secret, after any prefix: DB_PASSWORD, clientSecret, x-api-key. */
const names: Readonly<Record<string, string>> = {
  password: 'password',
  passwd: 'password',
  passphrase: 'password',
  pwd: 'password',
  secret: 'secret',
  token: 'token',
  credential: 'credential',
  api_key: 'API key',
  'api-key': 'API key',
  apikey: 'API key',
  access_key: 'access key',
  'access-key': 'access key',
  accesskey: 'access key',
  accountkey: 'Azure storage key',
  account_key: 'Azure storage key',
  private_key: 'private key',
  'private-key': 'private key',
  privatekey: 'private key',
  signing_key: 'signing key',
  encryption_key: 'encryption key',
};

/** Suffixes that a secret's name may have. A token's count, id, file or type is not secret. */
const tails =
  /^[_-]?(?:key|access[_-]?key|key[_-]?base|value|token|secret|base64|b64|prod|production|staging|dev|live|test|main|\d{1,2})?$/;
/** Pagination tokens. Reads at most 16 characters. */
const place = /(?:page|pagination|next|prev|previous|continuation|continue|sync|cursor|resume|delta)[_-]?$/i;
const NAME_END = 32;
const BLANKS = 8;
/** Longer values are data. */
const VALUE = 512;

/** End of a value, if not too long. Depends only on the position, so the last result is reused. */
function makeValueEnd(): (text: string, from: number) => number {
  let known = {text: '', from: 0, end: 0};
  return (text, from) => {
    const seen = known.text === text && from >= known.from && from <= known.end;
    const limit = Math.min(text.length, from + VALUE + 1);
    let end = seen ? known.end : from;
    while (end < limit && isValue(text.charCodeAt(end))) end++;
    known = {text, from: seen ? known.from : from, end};
    return end;
  };
}

const STOPS = new Set([...'"\'`,;<>(){}[]|&\\'].map(character => character.charCodeAt(0)));

function isValue(code: number): boolean {
  return code > 32 && code < 127 && !STOPS.has(code);
}

function makeAssignment(): Matcher {
  const valueEnd = makeValueEnd();
  return {
    anchors: Object.keys(names),
    anyCase: true,
    match(text, at, final, anchor) {
      const nameFrom = at + anchor.length;
      const nameEnd = runEnd(text, nameFrom, NAME_CHARACTER, nameFrom + NAME_END);
      if (nameEnd === text.length) return final ? undefined : MORE;
      const operator = afterOperator(text, nameEnd, at);
      if (operator === undefined) return undefined;
      const tail = lowerCase(text.slice(nameFrom, nameEnd));
      if (!tails.test(tail)) return undefined;
      if (operator >= text.length) return final ? undefined : MORE;
      const start = afterScheme(text, operator);
      let end = valueEnd(text, start);
      if (end - start > VALUE) return undefined;
      if (end === text.length && !final) return MORE;
      while (end > start && '.:!?'.includes(text.charAt(end - 1))) end--;
      const value = text.slice(start, end);
      if (anchor === 'token' && tail === '' && place.test(text.slice(Math.max(0, at - LOOKBEHIND), at)))
        return undefined;
      if (isCall(text, start, end)) return undefined;
      const label = names[anchor] ?? anchor;
      const aws = /access[_-]?key$/.test(anchor + tail) && /^[A-Za-z0-9/+]{40}$/.test(value) && !/EXAMPLE/.test(value);
      const found = aws || (label === 'password' ? isPassword(value) : isCredential(value));
      return found ? {start, end, label: aws ? 'AWS secret key' : label} : undefined;
    },
  };
}

/** Whether the value is the name of a called function. */
function isCall(text: string, start: number, end: number): boolean {
  if (text.charAt(end) !== '(' || '"\'`'.includes(text.charAt(start - 1))) return false;
  return runEnd(text, start, WORD, end, '.') === end;
}

/** `--api-token VALUE`: a blank is enough. */
function isOption(text: string, at: number): boolean {
  return /(?:^|\s)--[\w-]*$/.test(text.slice(Math.max(0, at - 14), at));
}

/**
 * Position after `=`, `:`, `=>`, `":`, `\": \"` and the like, and the opening quote of the value. Undefined: no
 * operator. The end of the text: an operator may follow.
 */
function afterOperator(text: string, from: number, name: number): number | undefined {
  let at = from;
  while (at < from + 4 && '"\'\\]'.includes(text.charAt(at)) && at < text.length) at++;
  const blank = afterBlanks(text, at);
  const operator = blank;
  at = operator;
  while (at < operator + 3 && '=:>'.includes(text.charAt(at)) && at < text.length) at++;
  if (at >= text.length) return at;
  if (at === operator && !(blank > from && isOption(text, name))) return undefined;
  at = afterBlanks(text, at);
  const quote = at;
  while (at < quote + 5 && '"\'`\\'.includes(text.charAt(at)) && at < text.length) at++;
  return at;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (at < from + BLANKS && ' \t'.includes(text.charAt(at)) && at < text.length) at++;
  return at;
}

function afterScheme(text: string, at: number): number {
  return at + (/^(?:bearer|basic) /i.exec(text.slice(at, at + 7))?.[0].length ?? 0);
}

/** `Bearer …`, anywhere. */
const bearer: Matcher = {
  anchors: ['bearer '],
  anyCase: true,
  match(text, at, final) {
    const start = at + 'bearer '.length;
    const end = runEnd(text, start, TOKEN68, start + 4096);
    if (end === text.length && !final) return MORE;
    return end - start >= 16 && isCredential(text.slice(start, end).replace(/[.-]+$/, ''))
      ? {start, end, label: 'bearer token'}
      : undefined;
  },
};

const authorization: Matcher = {
  anchors: ['authorization'],
  anyCase: true,
  match(text, at, final, anchor) {
    const from = at + anchor.length;
    let to = from;
    while (to < from + 12 && '"\'\\ \t:=>,'.includes(text.charAt(to)) && to < text.length) to++;
    if (text.length < to + 12 && !final) return MORE;
    const scheme = /^(?:basic|token|apikey|digest) /i.exec(text.slice(to, to + 12));
    if (!scheme) return undefined;
    const start = to + scheme[0].length;
    const end = runEnd(text, start, TOKEN68, start + 4096);
    if (end === text.length && !final) return MORE;
    const value = text.slice(start, end);
    const isSecret = value.length >= 8 && /[A-Z]/.test(value) && /[a-z]/.test(value) && /[0-9=]/.test(value);
    return isSecret || isCredential(value) ? {start, end, label: 'authorization'} : undefined;
  },
};

/** The password in `https://user:password@host`, or a token in place of the user. */
const address: Matcher = {
  anchors: ['://'],
  match(text, at, final) {
    const from = at + 3;
    const user = until(text, from, ':', 128);
    if (user === text.length && !final) return MORE;
    const isAlone = text.charAt(user) === '@';
    if (!isAlone && text.charAt(user) !== ':') return undefined;
    const start = isAlone ? from : user + 1;
    const end = isAlone ? user : until(text, start, '', 256);
    if (text.length <= end + 1 && !final) return MORE;
    if (text.charAt(end) !== '@' || (characterKinds(text, end + 1) & NAME_CHARACTER) === 0 || end - start < 3)
      return undefined;
    const value = text.slice(start, end);
    if (isAlone ? !isCredential(value) : isPlaceholder(value) || value === text.slice(from, user)) return undefined;
    const host = runEnd(text, end + 1, DOTTED, end + 1 + HOST);
    if (host === text.length && !final) return MORE;
    if (ownHost.test(text.slice(end + 1, host)) && simple.test(value)) return undefined;
    return {start, end, label: isAlone ? 'token in a URL' : 'password in a URL'};
  },
};

const HOST = 64;
/** Local hosts, containers and examples: a simple password there is not secret. */
const ownHost =
  /^(?:localhost|127\.0\.0\.1|0\.0\.0\.0|host\.docker\.internal|host(?:name)?|server|db|database|postgres(?:ql)?|mysql|mariadb|mongo(?:db)?|redis|rabbitmq|(?:[\w-]+\.)*example(?:\.\w+)?)$/i;
const simple = /^[a-z]{1,12}\d{0,4}$/i;

function until(text: string, from: number, stop: string, most: number): number {
  let at = from;
  const end = Math.min(text.length, from + most);
  while (at < end && isValue(text.charCodeAt(at)) && !`/@${stop}`.includes(text.charAt(at))) at++;
  return at;
}

function isPlaceholder(value: string): boolean {
  return /^(?:pass(?:word|wd)?|pwd|secret|token|user(?:name)?|key|x+|\*+|\.+|-+|\$.*|%s|changeme|example|port|\d{1,5})$/i.test(
    value,
  );
}

export const assignmentLabels: readonly string[] = [
  ...Object.values(names),
  'AWS secret key',
  'bearer token',
  'authorization',
  'password in a URL',
  'token in a URL',
];

/** Created for each scanner, because a matcher remembers its last position. */
export function assignmentMatchers(): Matcher[] {
  return [makeAssignment(), bearer, authorization, address];
}
