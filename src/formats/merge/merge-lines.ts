import {diff3Merge} from 'node-diff3';
import {inOrder} from '../common/align.ts';

export interface MergeResult {
  text: string;
  /** Descriptions of what could not be merged. */
  conflicts: string[];
}

/** node-diff3 takes time by the product of the lengths, more with repeated lines. Longer stretches conflict. */
const most = {product: 4_000_000, pairs: 200_000};

/**
 * Three-way merge by lines. Where both sides changed the same lines, the person's are kept and reported in `conflicts`.
 * `both`: where both inserted lines at the same place, keep all of them.
 */
export function mergeLines(base: string, person: string, daemon: string, {both = false} = {}): MergeResult {
  const [o, a, b] = [linesOf(base), linesOf(person), linesOf(daemon)];
  const out: string[] = [];
  const conflicts: string[] = [];
  let at = {o: 0, a: 0, b: 0};
  const upTo = (o1: number, a1: number, b1: number) => {
    const parts = {o: o.slice(at.o, o1), a: a.slice(at.a, a1), b: b.slice(at.b, b1)};
    mergeStretch(parts, out, {conflicts, line: at.a + 1, both});
    at = {o: o1, a: a1, b: b1};
  };
  for (const anchor of anchors(o, a, b)) {
    upTo(anchor.o, anchor.a, anchor.b);
    out.push(o[anchor.o] as string);
    at = {o: anchor.o + 1, a: anchor.a + 1, b: anchor.b + 1};
  }
  upTo(o.length, a.length, b.length);
  return {text: joined(out), conflicts};
}

/** Lines with their line ends. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const next = newline === -1 ? text.length : newline + 1;
    lines.push(text.slice(start, next));
    start = next;
  }
  return lines;
}

/** Complete a line without line end that now has lines after it. */
function joined(lines: readonly string[]): string {
  const end = lines.find(line => line.endsWith('\n'))?.endsWith('\r\n') ? '\r\n' : '\n';
  return lines.map((line, i) => (i < lines.length - 1 && !line.endsWith('\n') ? line + end : line)).join('');
}

interface Stretch {
  o: string[];
  a: string[];
  b: string[];
}

interface Telling {
  conflicts: string[];
  line: number;
  both: boolean;
}

function mergeStretch({o, a, b}: Stretch, out: string[], {conflicts, line, both}: Telling): void {
  if (same(o, b) || same(a, b)) {
    pushLines(out, a);
    return;
  }
  if (same(o, a)) {
    pushLines(out, b);
    return;
  }
  const said = (lines: readonly string[], from: number) => {
    const rest = lines.length > 1 ? `lines ${from} to ${from + lines.length - 1}` : `line ${from}`;
    conflicts.push(`${rest}: the same place was changed on both sides; yours is kept`);
  };
  if (both && o.length === 0) {
    addBoth(out, a, b);
    return;
  }
  if (isTooMuch(o, a) || isTooMuch(o, b)) {
    said(a, line);
    pushLines(out, a);
    return;
  }
  for (const part of diff3Merge(a, o, b, {excludeFalseConflicts: true})) {
    if (part.ok) pushLines(out, part.ok);
    else if (part.conflict && both && part.conflict.o.length === 0) addBoth(out, part.conflict.a, part.conflict.b);
    else if (part.conflict) {
      said(part.conflict.a, line + part.conflict.aIndex);
      pushLines(out, part.conflict.a);
    }
  }
}

function isTooMuch(o: readonly string[], other: readonly string[]): boolean {
  if (o.length * other.length > most.product) return true;
  const counts = new Map<string, number>();
  for (const line of o) counts.set(line, (counts.get(line) ?? 0) + 1);
  let pairs = 0;
  for (const line of other) pairs += counts.get(line) ?? 0;
  return pairs > most.pairs;
}

/** Keep all lines of both, common ones once. */
function addBoth(out: string[], a: readonly string[], b: readonly string[]): void {
  const has = new Set(a);
  pushLines(
    out,
    b.filter(line => !has.has(line)),
  );
  pushLines(out, a);
}

/** Not by spreading: a stretch may have more lines than a call may have arguments. */
function pushLines(out: string[], lines: readonly string[]): void {
  for (const line of lines) out.push(line);
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, i) => line === b[i]);
}

/**
 * Lines common to all three texts, in order: at the beginning and end, and in between those that are unique in each
 * text. The stretches between anchors are short, so comparing them is cheap.
 */
function anchors(o: string[], a: string[], b: string[]): {o: number; a: number; b: number}[] {
  const shortest = Math.min(o.length, a.length, b.length);
  let head = 0;
  while (head < shortest && o[head] === a[head] && o[head] === b[head]) head++;
  let tail = 0;
  while (tail < shortest - head && o.at(-1 - tail) === a.at(-1 - tail) && o.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const found: {o: number; a: number; b: number}[] = [];
  for (let i = 0; i < head; i++) found.push({o: i, a: i, b: i});
  const inA = onlyOnce(a, head, a.length - tail);
  const inB = onlyOnce(b, head, b.length - tail);
  const inO = onlyOnce(o, head, o.length - tail);
  const common = [...inO].flatMap(([line, i]) => {
    const [j, k] = [inA.get(line) ?? -1, inB.get(line) ?? -1];
    return i >= 0 && j >= 0 && k >= 0 ? [{o: i, a: j, b: k}] : [];
  });
  const kept = inOrder(Int32Array.from(common, place => place.a)).map(i => common[i] as (typeof common)[number]);
  for (const i of inOrder(Int32Array.from(kept, place => place.b))) found.push(kept[i] as (typeof kept)[number]);
  for (let i = tail; i > 0; i--) found.push({o: o.length - i, a: a.length - i, b: b.length - i});
  return found;
}

/** Position of each unique line; -1 for repeated ones. */
function onlyOnce(lines: readonly string[], from: number, to: number): Map<string, number> {
  const places = new Map<string, number>();
  for (let i = from; i < to; i++) {
    const line = lines[i] as string;
    places.set(line, places.has(line) ? -1 : i);
  }
  return places;
}
