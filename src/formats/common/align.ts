/** Matches between two lists: the index in the other list, or -1. */
export interface Match {
  /** For each `from`, its index in `to`. */
  to: Int32Array;
  /** For each `to`, its index in `from`. */
  from: Int32Array;
}

/** A criterion for equality; items without a key are skipped. */
export interface Pass {
  from(index: number): string | undefined;
  to(index: number): string | undefined;
  /** Match only within the same gap between matched items. */
  gaps?: boolean;
  /** Match only keys that occur equally often on both sides. Otherwise match first with first, and so on. */
  even?: boolean;
  like?(from: number, to: number): boolean;
}

export function noMatch(from: number, to: number): Match {
  return {to: new Int32Array(from).fill(-1), from: new Int32Array(to).fill(-1)};
}

/** Match unmatched items by this pass. Linear time, or n log n with gaps. */
export function align(match: Match, pass: Pass): void {
  if (!match.to.includes(-1) || !match.from.includes(-1)) return;
  const gaps = pass.gaps ? gapsOf(match) : undefined;
  const found = new Map<string, {from: number[]; to: number[]}>();
  for (let i = 0; i < match.to.length; i++) {
    const key = match.to[i] === -1 ? pass.from(i) : undefined;
    if (key === undefined) continue;
    const name = gaps ? `${gaps.from[i]} ${key}` : key;
    const same = found.get(name);
    if (same) same.from.push(i);
    else found.set(name, {from: [i], to: []});
  }
  if (found.size === 0) return;
  for (let j = 0; j < match.from.length; j++) {
    const key = match.from[j] === -1 ? pass.to(j) : undefined;
    if (key !== undefined) found.get(gaps ? `${gaps.to[j]} ${key}` : key)?.to.push(j);
  }
  for (const {from, to} of found.values()) {
    if (pass.even && from.length !== to.length) continue;
    for (let k = 0; k < from.length && k < to.length; k++) {
      const [i, j] = [from[k] as number, to[k] as number];
      if (!pass.like || pass.like(i, j)) link(match, i, j);
    }
  }
}

/** Match equal items at the beginning and at the end. */
export function alignEnds(match: Match, same: (from: number, to: number) => boolean): void {
  const [from, to] = [match.to.length, match.from.length];
  const shorter = Math.min(from, to);
  let head = 0;
  for (; head < shorter && same(head, head); head++) link(match, head, head);
  for (let tail = 1; tail <= shorter - head && same(from - tail, to - tail); tail++)
    link(match, from - tail, to - tail);
}

function link(match: Match, from: number, to: number): void {
  match.to[from] = to;
  match.from[to] = from;
}

/** For each item, the number of unmoved items before it. */
function gapsOf(match: Match): {from: Int32Array; to: Int32Array} {
  const kept = inOrder(match.to);
  const gaps = {from: new Int32Array(match.to.length), to: new Int32Array(match.from.length)};
  const isKept = new Uint8Array(match.to.length);
  for (const index of kept) isKept[index] = 1;
  for (let i = 0, gap = 0; i < gaps.from.length; i++) gaps.from[i] = isKept[i] ? gap++ : gap;
  for (let j = 0, gap = 0; j < gaps.to.length; j++) {
    const from = match.from[j] as number;
    gaps.to[j] = from !== -1 && isKept[from] ? gap++ : gap;
  }
  return gaps;
}

/** Indices of a longest increasing subsequence, ignoring -1: items that were not moved. */
export function inOrder(values: Int32Array): number[] {
  const tops: number[] = [];
  const before = new Int32Array(values.length).fill(-1);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value === -1) continue;
    let low = 0;
    let high = tops.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((values[tops[mid] as number] as number) < value) low = mid + 1;
      else high = mid;
    }
    before[i] = low > 0 ? (tops[low - 1] as number) : -1;
    tops[low] = i;
  }
  const run: number[] = [];
  for (let i = tops.at(-1) ?? -1; i !== -1; i = before[i] as number) run.push(i);
  return run.reverse();
}
