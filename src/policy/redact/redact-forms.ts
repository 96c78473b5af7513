import {afterBreak} from './redact-characters.ts';
import {base64, END, type Form, NO, numbers} from './redact-encoded.ts';
import {lowerCase, type Matcher} from './redact-scan.ts';

/** Matchers for a value in all forms in which it may appear. `label` replaces it. */
export function matchersOf(label: string, value: string): Matcher[] {
  const bytes = new TextEncoder().encode(value);
  const walks = [
    plain(value),
    ...longLines(value).map(plain),
    ...[0, 1, 2].map(before => base64(bytes, before)),
    numbers(bytes, 16),
    numbers(bytes, 10),
  ];
  return walks.map(({anchors, walk}) => ({
    anchors: [...new Set(anchors.map(lowerCase))],
    anyCase: true,
    match(text, at, final) {
      const end = walk(text, at, final);
      if (end === END) return final ? undefined : 'more';
      return end === NO ? undefined : {start: at, end, label};
    },
  }));
}

/** Each line of a multi-line key is a secret of its own: with line numbers in between, the whole key is not found. */
function longLines(value: string): string[] {
  const lines = value.split(/\r?\n/).map(line => line.trim());
  return lines.length < 2 ? [] : lines.filter(line => line.length >= 16 && !line.startsWith('-----'));
}

interface Unit {
  character: string;
  /** `%C3%A9`, in lower case. */
  percent: string;
  /** `u0041` and `x41`, for each of its one or two UTF-16 codes. */
  codes: (readonly [string, string])[];
  /** Letter of its escape, as in `\n`; otherwise the character itself. */
  letter: string;
}

function codeOf(code: number): readonly [string, string] {
  const hex = code.toString(16);
  return [`u${hex.padStart(4, '0')}`, `x${hex.padStart(2, '0')}`];
}

/** Alternatives for characters that another reading would misinterpret. */
interface Way {
  /** Number of backslashes that represent one. */
  backslashes: number;
  /** "%" is written %25. */
  percent: boolean;
}

/** Limit before one escaped character. */
const MOST_BACKSLASHES = 16;

/** End of a run of backslashes. Each run is scanned once. */
const afterBackslashes = (() => {
  let known = {text: '', from: 0, end: 0};
  return (text: string, from: number): number => {
    if (known.text === text && from >= known.from && from <= known.end) return known.end;
    let end = from;
    while (text.charCodeAt(end) === 92) end++;
    known = {text, from, end};
    return end;
  };
})();

const LETTERS: Readonly<Record<string, string>> = {'\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f'};

/** Plain text, or with any characters escaped as in JSON (once or twice), a URL or a form. */
function plain(value: string): Form {
  const units = [...value.replaceAll('\r\n', '\n')].map((character): Unit => {
    const bytes = [...new TextEncoder().encode(character)];
    return {
      character,
      percent: bytes.map(byte => `%${byte.toString(16).padStart(2, '0')}`).join(''),
      codes: Array.from({length: character.length}, (_, i) => codeOf(character.charCodeAt(i))),
      letter: LETTERS[character] ?? character,
    };
  });
  const ways = (value.includes('\\') ? [1, 2, 4] : [1]).flatMap(backslashes =>
    (value.includes('%') ? [false, true] : [false]).map(percent => ({backslashes, percent})),
  );
  const leading = afterBackslashes(value, 0);
  const longest = leading * 4 + MOST_BACKSLASHES;
  return {
    anchors: beginnings(units.slice(0, 3)),
    walk(text, at, final) {
      // A run of backslashes is matched from its start, or from where the value's own may begin.
      if (text.charAt(at) === '\\') {
        if (leading === 0 && text.charAt(at - 1) === '\\') return NO;
        if (afterBackslashes(text, at) - at > longest) return NO;
      }
      let seen = NO;
      for (const way of ways) {
        const end = walkUnits(text, at, units, way, final);
        if (end >= 0) return end;
        if (end === END) seen = END;
      }
      return seen;
    },
  };
}

/** First three characters of all spellings. */
function beginnings(units: readonly Unit[]): string[] {
  const [first, ...rest] = units;
  if (!first) return [''];
  const escapes = [...(first.codes[0] ?? []), first.letter, '\\'].flatMap(end => [
    `\\${end}`,
    `\\\\${end}`,
    `\\\\\\${end}`,
  ]);
  const space = first.character === ' ' ? ['+'] : first.character === '\n' ? ['\r\n'] : [];
  const starts = [first.character, first.percent, ...escapes, ...space];
  return starts.flatMap(start =>
    start.length >= 3 ? [start.slice(0, 3)] : beginnings(rest).map(more => (start + more).slice(0, 3)),
  );
}

function walkUnits(text: string, at: number, units: readonly Unit[], way: Way, final: boolean): number {
  let i = at;
  for (const unit of units) {
    // A line continuation of a shell.
    if (text.charAt(i) === '\\' && text.charAt(i + 1) === '\n') i += 2;
    if (i >= text.length) return END;
    i = afterUnit(text, i, unit, way, final);
    if (i < 0) return i;
  }
  return i;
}

function afterUnit(text: string, i: number, unit: Unit, {backslashes, percent}: Way, final: boolean): number {
  const {character} = unit;
  if (character === '\\') {
    const coded = afterEscape(text, i, unit.codes[0] ?? ['', ''], undefined);
    if (coded >= 0 || (coded === END && !final)) return coded;
    for (let n = 0; n < backslashes; n++) {
      if (i + n >= text.length) return END;
      if (text.charAt(i + n) !== '\\') return n === 0 ? afterEncoded(text, i, unit) : NO;
    }
    return i + backslashes;
  }
  if (character === '\n') {
    const after = afterBreak(text, i, false);
    if (after === undefined) return END;
    if (after > i) return after;
  }
  if (text.startsWith(character, i) && !(percent && character === '%')) return i + character.length;
  if (character === ' ' && text.charAt(i) === '+') return i + 1;
  if (character.length > 1 && i + 1 >= text.length && character.startsWith(text.slice(i))) return END;
  return afterEncoded(text, i, unit);
}

function afterEncoded(text: string, i: number, {percent, codes, letter}: Unit): number {
  if (text.charAt(i) === '%') {
    const there = text.slice(i, i + percent.length).toLowerCase();
    if (there === percent) return i + percent.length;
    return i + percent.length > text.length && percent.startsWith(there) ? END : NO;
  }
  if (text.charAt(i) !== '\\') return NO;
  let at = i;
  for (const code of codes) {
    at = afterEscape(text, at, code, letter);
    if (at < 0) return at;
    if (letter.length === codes.length && text.slice(at - letter.length, at) === letter) return at;
  }
  return at;
}

/** `\u0041`, `\x41`, `\n`, `\"`, with any number of backslashes. */
function afterEscape(text: string, i: number, codes: readonly [string, string], letter: string | undefined): number {
  if (text.charAt(i) !== '\\') return i >= text.length ? END : NO;
  const at = Math.min(afterBackslashes(text, i), i + MOST_BACKSLASHES);
  if (at >= text.length) return END;
  for (const code of codes) {
    if (text.charCodeAt(at) !== code.charCodeAt(0)) continue;
    let same = 1;
    while (same < code.length && lower(text.charCodeAt(at + same)) === code.charCodeAt(same)) same++;
    if (same === code.length) return at + same;
    if (at + same >= text.length) return END;
  }
  if (letter !== undefined && text.startsWith(letter, at)) return at + letter.length;
  return NO;
}

function lower(code: number): number {
  return code >= 65 && code <= 90 ? code | 32 : code;
}
