/** A part of a text that is to be replaced. */
export interface SecretHit {
  start: number;
  end: number;
  /** What it is, for people. */
  label: string;
  /** What stands there is a replacement already: it stays, and nothing within it counts. */
  kept?: true;
}

/** It depends on text that has not come yet. */
export const MORE = 'more';

/**
 * Finds one kind of secret. What it says of a place must follow from the text after it (and `LOOKBEHIND` characters
 * before it) as far as it was read: if it came to the end of a text that goes on, it says MORE. How far it reads is
 * bounded, so that all texts take linear time and a stream holds little back.
 */
export interface Matcher {
  /** How what it finds begins: three characters or more. */
  anchors: readonly string[];
  /** Whether the anchors are meant in any case of letters; they are then lower case. */
  anyCase?: boolean;
  /** `at`: where the anchor stands. `final`: the text ends where it ends, and MORE is never said. */
  match: (text: string, at: number, final: boolean, anchor: string) => SecretHit | typeof MORE | undefined;
}

export const LOOKBEHIND = 16;

export interface SecretScanner {
  /** The first hit from `from` on; `wait`: from there on it depends on what comes. */
  next: (text: string, from: number, final: boolean) => SecretHit | {wait: number} | undefined;
}

interface Entry {
  anchor: string;
  matcher: Matcher;
}

const MASK = 0x7fff;

/** Looks at each character once: three in a row that begin no anchor cost a table look-up. */
export function makeScanner(matchers: readonly Matcher[]): SecretScanner {
  const table = new Uint8Array(MASK + 1);
  const entries = new Map<number, Entry[]>();
  const heads = new Set<string>();
  for (const matcher of matchers) {
    for (const anchor of matcher.anchors) {
      const hash = hashOf(anchor);
      table[hash] = 1;
      const same = entries.get(hash);
      if (same) same.push({anchor, matcher});
      else entries.set(hash, [{anchor, matcher}]);
      for (const length of [1, 2]) heads.add(lowerCase(anchor.slice(0, length)));
    }
  }

  const look = (text: string, at: number, hash: number, final: boolean): SecretHit | {wait: number} | undefined => {
    for (const {anchor, matcher} of entries.get(hash) ?? []) {
      const begun = begins(text, at, anchor, matcher.anyCase === true);
      if (begun === 0) continue;
      const found = begun < anchor.length ? MORE : matcher.match(text, at, final, anchor);
      if (found === MORE && !final) return {wait: at};
      if (found !== MORE && found) return found;
    }
    return undefined;
  };

  return {
    next(text, from, final) {
      const {length} = text;
      let second = 0;
      let third = 0;
      for (let i = from; i < length; i++) {
        const first = second;
        second = third;
        third = text.charCodeAt(i) | 32;
        const hash = ((first << 10) ^ (second << 5) ^ third) & MASK;
        if (table[hash] === 0 || i < from + 2) continue;
        const found = look(text, i - 2, hash, final);
        if (found) return found;
      }
      if (final) return undefined;
      for (let at = Math.max(from, length - 2); at < length; at++)
        if (heads.has(lowerCase(text.slice(at)))) return {wait: at};
      return undefined;
    },
  };
}

/** Of three characters; of letters the case does not count. */
function hashOf(anchor: string): number {
  const [first = 0, second = 0, third = 0] = [0, 1, 2].map(i => anchor.charCodeAt(i) | 32);
  return ((first << 10) ^ (second << 5) ^ third) & MASK;
}

/** How much of the anchor stands there: all of it, as much as there is text, or nothing. */
function begins(text: string, at: number, anchor: string, anyCase: boolean): number {
  const length = Math.min(anchor.length, text.length - at);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(at + i);
    const wanted = anchor.charCodeAt(i);
    if (code !== wanted && !(anyCase && code + 32 === wanted && code >= 65 && code <= 90)) return 0;
  }
  return length;
}

/** Of ASCII: the length stays. */
export function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase());
}

const OPENING = '[redacted: ';
const LONGEST_LABEL = 80;

export const replacementOf = (label: string): string => `${OPENING}${label}]`;

/** What we wrote ourselves. Only with labels of ours: somebody else may write a secret there. */
export function replacements(labels: Iterable<string>): Matcher {
  const ours = new Set(labels);
  return {
    anchors: [OPENING],
    match(text, at, final) {
      const from = at + OPENING.length;
      const label = text.slice(from, from + LONGEST_LABEL + 1).split(']', 1)[0] ?? '';
      const end = from + label.length;
      if (end === text.length && label.length <= LONGEST_LABEL && !final) return MORE;
      return text.charAt(end) === ']' && ours.has(label) ? {start: at, end: end + 1, label, kept: true} : undefined;
    },
  };
}

/**
 * All hits replaced; `onHit` is told of each. What was replaced is not seen by what looks back: a second time there would
 * be a replacement.
 */
export function replaceAll(scanner: SecretScanner, text: string, onHit?: (hit: SecretHit) => void): string {
  let out = '';
  let rest = text;
  for (;;) {
    const hit = scanner.next(rest, 0, true);
    if (!hit || 'wait' in hit) return out + rest;
    const before = text.length - rest.length;
    if (!hit.kept) onHit?.({...hit, start: before + hit.start, end: before + hit.end});
    out += rest.slice(0, hit.start) + replacementOf(hit.label);
    rest = rest.slice(hit.end);
  }
}

/** What is held back beyond this is looked at again only when an eighth has been added: linear, whatever comes. */
const SMALL = 256;

/** The same for a text in pieces: returns what may be let go. `final`: nothing more comes. */
export function makeStage(scanner: SecretScanner): (piece: string, final: boolean) => string {
  let before = '';
  let held = '';
  let needed = 0;
  return (piece, final) => {
    held += piece;
    if (held.length < needed && !final) return '';
    let text = before + held;
    let out = '';
    let from = before.length;
    for (;;) {
      const found = scanner.next(text, from, final);
      if (found && 'label' in found) {
        out += text.slice(from, found.start) + replacementOf(found.label);
        text = text.slice(found.end);
        from = 0;
        continue;
      }
      const upTo = found ? found.wait : text.length;
      out += text.slice(from, upTo);
      from = upTo;
      break;
    }
    held = text.slice(from);
    before = text.slice(Math.max(0, from - LOOKBEHIND), from);
    needed = held.length > SMALL ? held.length + (held.length >> 3) : 0;
    return out;
  };
}
