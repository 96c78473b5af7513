/** Numbers that one seed always gives in the same order. */
export interface Random {
  /** 0 … below - 1 */
  int: (below: number) => number;
  pick: <T>(items: readonly T[]) => T;
  chance: (part: number) => boolean;
  /** `least` to `most` values of `make`. */
  some: <T>(least: number, most: number, make: () => T) => T[];
}

/** Mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (below: number): number => Math.floor(next() * below);
  return {
    int,
    pick: items => items[int(items.length)] as (typeof items)[number],
    chance: part => next() < part,
    some: (least, most, make) => Array.from({length: least + int(most - least + 1)}, make),
  };
}
