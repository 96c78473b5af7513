import {afterBreak, BASE64, DIGIT, isStart, runEnd, UPPER, URL64} from './redact-characters.ts';
import {type Matcher, MORE} from './redact-scan.ts';

const PART = 8192;

/** Three or more parts of base64url separated by dots, the first starting with `{"`. */
const jwt: Matcher = {
  anchors: ['eyJ'],
  match(text, at, final) {
    if (!isStart(text, at)) return undefined;
    let end = at;
    for (let parts = 1; ; parts++) {
      const from = end;
      end = runEnd(text, from, URL64, from + PART);
      if (end === text.length && !final) return MORE;
      if (end - from < 10) return parts > 3 ? {start: at, end: from - 1, label: 'JWT'} : undefined;
      if (text.charAt(end) !== '.' || parts === 5) return parts >= 3 ? {start: at, end, label: 'JWT'} : undefined;
      end++;
    }
  },
};

const HEADER = '-----BEGIN ';
const FOOTER = '-----END ';
/** A key of 16,384 bits takes 13 KB. */
const MOST_BLOCK = 64 * 1024;
const LINE = 16;

/** A private key on several lines, with escaped line ends, or with spaces; also if cut off after some lines. */
const privateKey: Matcher = {
  anchors: [HEADER],
  match(text, at, final) {
    const name = runEnd(text, at + HEADER.length, UPPER | DIGIT, at + 80, ' ');
    if (name === text.length && !final) return MORE;
    if (!/PRIVATE KEY(?: BLOCK)?$/.test(text.slice(at, name))) return undefined;
    if (!text.startsWith('-----', name)) return text.length < name + 5 && !final ? MORE : undefined;
    const end = bodyEnd(text, name + 5, at + MOST_BLOCK, final);
    return typeof end === 'number' ? {start: at, end, label: 'private key'} : end;
  },
};

function bodyEnd(text: string, from: number, limit: number, final: boolean): number | typeof MORE | undefined {
  let end: number | undefined;
  for (let at = from; at < limit; ) {
    const next = afterBreaks(text, at, final);
    if (next === undefined) return MORE;
    if (text.startsWith(FOOTER, next)) return footerEnd(text, next, final);
    const header = /^[A-Z][A-Za-z-]{3,20}: /.exec(text.slice(next, next + 24));
    if (header) {
      const line = lineEnd(text, next, limit);
      if (line === text.length && !final) return MORE;
      at = line;
      continue;
    }
    const run = runEnd(text, next, BASE64, limit);
    // It may be the last line of a key, or of a key that was cut off.
    if (text.length < run + 16 && !final) return MORE;
    if (run === next) return end;
    const padded = run + (/^={0,2}/.exec(text.slice(run, run + 2))?.[0].length ?? 0);
    const after = afterBreaks(text, padded, final);
    if (after === undefined) return MORE;
    const rest = text.slice(after, after + FOOTER.length);
    const isLast = FOOTER.startsWith(rest);
    if (isLast && rest !== FOOTER) return final ? text.length : MORE;
    if (run - next < LINE && !isLast) return end;
    at = end = padded;
  }
  return end;
}

/** Skip line ends, however written, and blanks. */
function afterBreaks(text: string, from: number, final: boolean): number | undefined {
  let at = from;
  for (const most = from + 256; at < most; ) {
    const after = afterBreak(text, at, final);
    if (after === undefined) return undefined;
    const blank = after === at && ' \t'.includes(text.charAt(at)) && at < text.length ? at + 1 : after;
    if (blank === at) break;
    at = blank;
  }
  return at >= text.length && !final ? undefined : at;
}

function lineEnd(text: string, from: number, limit: number): number {
  let at = from;
  while (at < limit && at < text.length && text.charAt(at) !== '\n' && text.charAt(at) !== '\\') at++;
  return at;
}

function footerEnd(text: string, at: number, final: boolean): number | typeof MORE {
  const name = runEnd(text, at + FOOTER.length, UPPER | DIGIT, at + 80, ' ');
  if (text.length < name + 5 && !final) return MORE;
  return name + (/^-{0,5}/.exec(text.slice(name, name + 5))?.[0].length ?? 0);
}

export const blockLabels: readonly string[] = ['JWT', 'private key'];

export const blockMatchers: readonly Matcher[] = [jwt, privateKey];
