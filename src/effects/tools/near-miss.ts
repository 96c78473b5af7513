import type {Redactor} from '../../policy/redact/redact.ts';
import {inBoundedTime} from './bounded-time.ts';

/** Milliseconds. The search for what was meant is only a help, and its time grows with the text. */
const MAX_EXCERPT = 200;
const MOST_COMPARED = 1024 * 1024;
/** Limit on compared lines, because the first line may occur very often. */
const MOST_FOLLOWED = 50_000;
const MOST_LIKENED = 256 * 1024;
const LONGEST_SHOWN = 300;
/** From 0 to 1: a less similar line is no help. */
const ALIKE = 0.6;

/** Explain why `old` was not found, as far as possible, so that the next attempt can succeed. */
export function notFound(text: string, old: string, path: string, redact: Redactor): string {
  const base = `old does not occur in ${path}; it must be exactly as in the file`;
  if (text.length > MOST_COMPARED) return base;
  const broken = old.replaceAll('\\n', '\n').replaceAll('\\t', '\t');
  if (broken !== old && text.includes(broken))
    return `${base}: it has \\n or \\t as two characters each, where the file has line breaks or tabs`;
  const lines = text.split('\n');
  // Redact before cutting: half a secret is not recognised.
  const shown = (some: readonly string[]) => excerpt(redact.text(some.join('\n')));
  const near = inBoundedTime(
    () =>
      otherSpace(lines, old, shown) ??
      otherCharacters(text, old, shown) ??
      firstLineOnly(lines, old, shown) ??
      likest(text, lines, old, shown),
    MAX_EXCERPT,
  )?.result;
  return near === undefined ? base : `${base}: ${near}`;
}

/** Quote lines of the file or of `old`. */
type Shown = (lines: readonly string[]) => string;

const bare = (line: string) => line.replace(/\s+/g, '');

/** Find the lines, ignoring white space. */
function otherSpace(lines: readonly string[], old: string, shown: Shown): string | undefined {
  const wanted = old.split('\n').map(bare).filter(Boolean);
  const [first] = wanted;
  if (first === undefined) return undefined;
  const full = lines.map((line, at) => ({at, text: bare(line)})).filter(line => line.text !== '');
  let left = MOST_FOLLOWED;
  for (const [i, {at, text}] of full.entries()) {
    if (!text.includes(first)) continue;
    if (left <= 0) break;
    if (wanted.every((each, k) => left-- > 0 && full[i + k]?.text.includes(each))) {
      const part = lines.slice(at, (full[i + wanted.length - 1]?.at ?? at) + 1);
      return `at line ${at + 1} it stands with other white space, in the file it is ${shown(part)}`;
    }
  }
  return undefined;
}

const plain = (text: string) =>
  text
    .replace(/[‘’‚‛]/g, "'")
    .replace(/[“”„‟]/g, '"')
    .replace(/[‐‑‒–—−]/g, '-')
    .replace(/\u00a0/g, ' ');

/** Find the text in other letter case, or with other quotes and dashes. All folds keep the length. */
function otherCharacters(text: string, old: string, shown: Shown): string | undefined {
  for (const [what, fold] of [
    ['other quotes, dashes or spaces', plain],
    ['other letter case', (part: string) => part.replace(/[A-Z]/g, letter => letter.toLowerCase())],
  ] as const) {
    const at = fold(text).indexOf(fold(old));
    if (at < 0) continue;
    const line = text.slice(0, at).split('\n').length;
    return `at line ${line} it stands with ${what}, in the file it is ${shown([text.slice(at, at + old.length)])}`;
  }
  return undefined;
}

function firstLineOnly(lines: readonly string[], old: string, shown: Shown): string | undefined {
  const wanted = old.split('\n').filter(line => bare(line) !== '');
  const first = bare(wanted[0] ?? '');
  if (wanted.length < 2 || first === '') return undefined;
  const starts: number[] = [];
  for (const [i, line] of lines.entries()) if (bare(line).includes(first) && starts.push(i) === 10) break;
  const [start] = starts;
  if (start === undefined) return undefined;
  let at = start;
  for (const line of wanted) {
    while (at < lines.length && bare(lines[at] ?? '') === '') at++;
    const found = lines[at];
    if (found === undefined || !bare(found).includes(bare(line))) {
      const where = found === undefined ? 'the file ends' : `line ${at + 1} is ${shown([found])}`;
      const list = starts.map(each => each + 1).join(', ');
      return `its first line is like line ${list}, but not the rest: where old has ${shown([line])}, ${where}`;
    }
    at++;
  }
  return undefined;
}

/** Find the line that shares the most character pairs with the first line. */
function likest(text: string, lines: readonly string[], old: string, shown: Shown): string | undefined {
  if (text.length > MOST_LIKENED) return undefined;
  const wanted = pairs(bare(old.split('\n').find(line => bare(line) !== '') ?? ''));
  let best = ALIKE;
  let at: number | undefined;
  for (const [i, line] of lines.entries()) {
    const found = pairs(bare(line).slice(0, 1000));
    let common = 0;
    for (const pair of found) if (wanted.has(pair)) common++;
    const alike = (2 * common) / (wanted.size + found.size);
    if (alike > best) {
      best = alike;
      at = i;
    }
  }
  return at === undefined ? undefined : `the nearest is line ${at + 1}: ${shown([lines[at] ?? ''])}`;
}

function pairs(text: string): Set<string> {
  const all = new Set<string>();
  for (let i = 0; i + 1 < text.length; i++) all.add(text.slice(i, i + 2));
  return all;
}

/** As JSON, which makes tabs and line ends visible. */
function excerpt(text: string): string {
  return JSON.stringify(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text);
}
