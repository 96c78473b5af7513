/** A range to be replaced. */
export interface SecretHit {
  start: number;
  end: number;
  label: string;
  /** The range is a replacement already: it stays, and nothing inside counts. */
  kept?: true;
}

/** The result depends on text that has not arrived yet. */
export const MORE = 'more';

/**
 * Finds one kind of secret. The result may depend only on the text from `at` on and `LOOKBEHIND` characters before. If
 * the matcher reaches the end of a text that continues, it returns MORE. It reads a bounded number of characters, so
 * that scanning takes linear time and a stream holds little back.
 */
export interface Matcher {
  /** Beginnings of matches: three characters or more. */
  anchors: readonly string[];
  /** Anchors match in any letter case; they are then lower case. */
  anyCase?: boolean;
  /** `at`: position of the anchor. `final`: the text is complete, and MORE is not returned. */
  match: (text: string, at: number, final: boolean, anchor: string) => SecretHit | typeof MORE | undefined;
}

export const LOOKBEHIND = 16;

export interface SecretScanner {
  /** First hit from `from` on; `wait`: the result from there on depends on further text. */
  next: (text: string, from: number, final: boolean) => SecretHit | {wait: number} | undefined;
}

interface Entry {
  anchor: string;
  matcher: Matcher;
}

const MASK = 0x7fff;

/** Scans each character once: three in a row that begin no anchor cost a table lookup. */
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

/** Hash of three characters, ignoring letter case. */
function hashOf(anchor: string): number {
  const [first = 0, second = 0, third = 0] = [0, 1, 2].map(i => anchor.charCodeAt(i) | 32);
  return ((first << 10) ^ (second << 5) ^ third) & MASK;
}

/** Number of matching characters: all of the anchor, as many as there is text, or 0. */
function begins(text: string, at: number, anchor: string, anyCase: boolean): number {
  const length = Math.min(anchor.length, text.length - at);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(at + i);
    const wanted = anchor.charCodeAt(i);
    if (code !== wanted && !(anyCase && code + 32 === wanted && code >= 65 && code <= 90)) return 0;
  }
  return length;
}

/** Lower-case ASCII letters only; keeps the length. */
export function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase());
}

const OPENING = '[redacted: ';
const LONGEST_LABEL = 80;

export const replacementOf = (label: string): string => `${OPENING}${label}]`;

/** Matches our own replacements, with known labels only: somebody may write a secret in their place. */
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

/** Replace all hits and call `onHit` with each. Lookbehind skips replaced text, so a second run changes nothing. */
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

/** Beyond this size, held text is scanned again only after it grew by an eighth, which keeps time linear. */
const SMALL = 256;

/** Like `replaceAll`, for text in pieces: returns what may be released. `final`: no more text follows. */
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
