import {escapeAt} from './pattern-escape.ts';

/** A ripgrep, PCRE or Python pattern translated to JavaScript. */
export interface Dialect {
  source: string;
  ignoreCase: boolean;
  /** Needed for \p{…}, and for characters outside the BMP. */
  unicode: boolean;
}

const posix: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9A-Fa-f',
  word: '\\w',
  cntrl: '\\x00-\\x1f\\x7f',
  print: '\\x20-\\x7e',
  graph: '\\x21-\\x7e',
  ascii: '\\x00-\\x7f',
};

const repetition = /^(?:[*+?]|\{\d+(?:,\d*)?\})/;

/** Properties take long to compile. */
const MOST_PROPERTIES = 50;

/** A string says what is not supported, and what to write instead. */
export function readDialect(pattern: string, unicode = needsUnicode(pattern)): Dialect | string {
  const flags = /^\(\?([a-zA-Z]+)\)/.exec(pattern)?.[1] ?? '';
  const strange = /[^imsu]/.exec(flags)?.[0];
  if (strange !== undefined) return `the flag (?${strange}) is not known; write the pattern without it`;
  const body = flags === '' ? pattern : pattern.slice(flags.length + 3);
  if ((body.match(/\\[pP]/g) ?? []).length > MOST_PROPERTIES) return `it has more than ${MOST_PROPERTIES} \\p{…}`;
  let source = '';
  for (let i = 0; i < body.length; ) {
    const step = stepAt(body, i, unicode);
    if (typeof step === 'string') return step;
    source += step.text;
    i += step.length;
  }
  return {source, ignoreCase: flags.includes('i'), unicode};
}

function needsUnicode(pattern: string): boolean {
  return /\\[pP]|[\ud800-\udfff]|\\[xu]\{[0-9A-Fa-f]{5,6}\}/.test(pattern);
}

interface Step {
  text: string;
  length: number;
}

function stepAt(body: string, at: number, unicode: boolean): Step | string {
  const char = body[at] ?? '';
  if (char === '\n') return oneLine;
  if (char === '\\') return outside(body, at, unicode);
  if (char === '[') return classAt(body, at, unicode);
  if (char === '(' && body[at + 1] === '?') return groupAt(body, at);
  const repeated = repetition.exec(body.slice(at, at + 40))?.[0];
  if (repeated !== undefined) {
    if (body[at + repeated.length] !== '+') return {text: repeated, length: repeated.length};
    // Like ripgrep, which reads the second + as another repetition.
    if (repeated === '*' || repeated === '+') return {text: repeated, length: repeated.length + 1};
    return `${repeated}+ is not known; write ${repeated} without the +`;
  }
  return {text: unicode && /[{}\]]/.test(char) ? `\\${char}` : char, length: 1};
}

const oneLine = 'it has a line break, but matches are within one line; look for one of the lines, and use context';

function outside(body: string, at: number, unicode: boolean): Step | string {
  if (body[at + 1] === 'n') return oneLine;
  if (body[at + 1] === 'Q') {
    const end = body.indexOf('\\E', at + 2);
    const quoted = body.slice(at + 2, end < 0 ? undefined : end);
    return {text: escaped(quoted), length: end < 0 ? body.length - at : end + 2 - at};
  }
  return escapeAt(body, at, {unicode, inClass: false});
}

/** Pattern that matches this text literally. */
export function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function groupAt(body: string, at: number): Step | string {
  const rest = body.slice(at, at + 200);
  if (/^\(\?(?:[:=!]|<[=!]|<[A-Za-z_$])/.test(rest)) return {text: '(?', length: 2};
  if (/^\(\?P<[A-Za-z_]/.test(rest)) return {text: '(?', length: 3};
  const named = /^\(\?P=(\w+)\)/.exec(rest);
  if (named) return {text: `\\k<${named[1]}>`, length: named[0].length};
  if (/^\(\?[a-zA-Z]*-?[a-zA-Z]*[:)]/.test(rest))
    return 'flags for a part of the pattern are not known; (?i) at its beginning or ignore_case is for all of it';
  if (rest.startsWith('(?>')) return 'atomic groups are not known; write (?:…) instead of (?>…)';
  return `${rest.slice(0, 4)} is not known; to find it as it stands, write ${escaped(rest.slice(0, 2))}`;
}

/** Translate a class: `[[:alpha:]_]` becomes `[A-Za-z_]`; a leading `]` is a literal. */
function classAt(body: string, from: number, unicode: boolean): Step | string {
  let at = from + 1;
  let text = '[';
  if (body[at] === '^') {
    text += '^';
    at++;
  }
  if (body[at] === ']') {
    text += '\\]';
    at++;
  }
  while (at < body.length) {
    const char = body[at] ?? '';
    if (char === ']') return {text: `${text}]`, length: at + 1 - from};
    if (body.startsWith('&&', at))
      return '&& in a class is not known; for what is in both write (?=[…])[…], to find the character a single &';
    const named = /^\[:(\^?)(\w+):\]/.exec(body.slice(at, at + 20));
    if (named) {
      const ranges = named[1] === '' ? posix[named[2] ?? ''] : undefined;
      if (ranges === undefined) return `${named[0]} is not known; there are ${Object.keys(posix).join(', ')}`;
      text += ranges;
      at += named[0].length;
    } else if (char === '\\') {
      const step = escapeAt(body, at, {unicode, inClass: true});
      if (typeof step === 'string') return step;
      text += step.text;
      at += step.length;
    } else {
      text += char === '[' ? '\\[' : char;
      at++;
    }
  }
  return 'a [ has no ]; to find a bracket as it stands, write \\[';
}
