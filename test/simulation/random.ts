import type {Random} from '../../src/home/disk/random.ts';

/** Numbers that follow from a seed alone (mulberry32). */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) >>> 0;
    this.fraction();
  }

  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** From 0 to `below`, without it. */
  int(below: number): number {
    return Math.floor(this.fraction() * below);
  }

  chance(share: number): boolean {
    return this.fraction() < share;
  }

  pick<T>(list: readonly T[]): T {
    const found = list[this.int(list.length)];
    if (found === undefined) throw new Error('nothing to choose from');
    return found;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({length}, () => this.int(256)));
  }
}
