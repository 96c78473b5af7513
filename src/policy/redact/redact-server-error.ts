import {makeRedactor, type Redactor} from './redact.ts';

const REDACTED = '[redacted: key]';
/** The shortest beginning or end of a key that is looked for. */
const SHORTEST_PART = 4;
/** A part of this length is a secret by itself. */
const TELLING_PART = 8;

/** Characters with which servers mask the rest of a key. */
const MASK = String.raw`(?:\\?\*|[•●∗·✱█]|…|\\u2026|\.{2,}|[xX]{4,}|-{4,}|_{4,}|#{3,}|\[(?:\.{3}|…)\]|<\w{4,12}>)`;
const maskAfter = new RegExp(` ?${MASK}+`, 'y');
const maskBefore = new RegExp(`${MASK} ?$`);
const wordsBeforeHead = /\b(?:start|begin|prefix|first)\w*\b[^\n]{0,20}$/i;
const wordsBeforeTail = /\b(?:end|last|suffix)\w*\b[^\n]{0,20}$/i;
/** As far as a mask or words may stand before a part. */
const REACH = 40;

/** A key of anybody, masked with stars or of a known form. */
const MASKED_KEY =
  /\bsk-[\w*•.…-]{4,}[\w*•…]|(?<![\w-])[\w-]{1,64}(?:\\?[*•●]){3,400}[\w…-]{0,64}|(?:\\?[*•●]){3,400}…?\w{2,64}/g;

let last: {key: string | undefined; redactor: Redactor} | undefined;

function redactorFor(key: string | undefined): Redactor {
  if (!last || last.key !== key)
    last = {key, redactor: makeRedactor(key === undefined ? [] : [{name: 'key', value: key, named: true}])};
  return last.redactor;
}

/** Redact the key in a server's message: servers repeat it, whole, in part or masked, plain or encoded. */
export function withoutKey(text: string, key: string | undefined): string {
  const whole = redactorFor(key).text(text);
  // Short keys are redacted too, except placeholders such as "x".
  const plain = key !== undefined && key.length >= SHORTEST_PART ? whole.replaceAll(key, REDACTED) : whole;
  const parts = key !== undefined && key.length >= TELLING_PART ? withoutParts(plain, key) : plain;
  return parts.replace(MASKED_KEY, REDACTED);
}

/** Redact beginnings and ends of the key that are long, beside a mask, or named as such. */
function withoutParts(text: string, key: string): string {
  const found = [...heads(text, key), ...tails(text, key)].sort((a, b) => a.start - b.start || b.end - a.end);
  let out = '';
  let from = 0;
  for (const {start, end} of found) {
    if (end <= from) continue;
    if (start > from || out === '') out += `${text.slice(from, Math.max(start, from))}${REDACTED}`;
    from = end;
  }
  return out + text.slice(from);
}

interface Range {
  start: number;
  end: number;
}

function* heads(text: string, key: string): Generator<Range> {
  const head = key.slice(0, SHORTEST_PART);
  for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, at + 1)) {
    let longest = SHORTEST_PART;
    while (longest < key.length && text[at + longest] === key[longest]) longest++;
    const named = wordsBeforeHead.test(text.slice(Math.max(0, at - REACH), at));
    const masked = lengths(longest).find(length => maskEnd(text, at + length) !== undefined);
    if (masked !== undefined) yield {start: at, end: maskEnd(text, at + masked) ?? at + masked};
    if (named || longest >= TELLING_PART) yield {start: at, end: at + longest};
  }
}

function* tails(text: string, key: string): Generator<Range> {
  const tail = key.slice(-SHORTEST_PART);
  for (let at = text.indexOf(tail); at !== -1; at = text.indexOf(tail, at + 1)) {
    const end = at + SHORTEST_PART;
    let longest = SHORTEST_PART;
    while (longest < key.length && text[end - 1 - longest] === key[key.length - 1 - longest]) longest++;
    const before = (length: number) => text.slice(Math.max(0, end - length - REACH), end - length);
    const masked = lengths(longest).find(length => maskBefore.test(before(length)));
    if (masked !== undefined) yield {start: end - masked, end};
    if (longest >= TELLING_PART || wordsBeforeTail.test(before(longest))) yield {start: end - longest, end};
  }
}

/** The lengths that a part may have, if the mask beside it begins like the rest of the key; longer parts are telling. */
function lengths(longest: number): number[] {
  const most = Math.min(longest, TELLING_PART);
  return Array.from({length: most - SHORTEST_PART + 1}, (_, i) => most - i);
}

function maskEnd(text: string, at: number): number | undefined {
  maskAfter.lastIndex = at;
  return maskAfter.test(text) ? maskAfter.lastIndex : undefined;
}
