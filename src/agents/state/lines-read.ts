/** Files with more lines are not remembered line by line. */
export const MAX_REMEMBERED_LINES = 100_000;

/** How often each line was read, by content. Only an editor that writes a file anew makes anybody ask. */
export class LinesRead {
  /** A hash of twelve hex digits is a number: a million of them are to fit. */
  readonly #counts = new Map<number, number>();
  readonly #most: number;
  #length = 0;
  /** Some lines that were read are not in it. */
  incomplete = false;

  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  get length(): number {
    return this.#length;
  }

  add(hash: string): void {
    if (this.incomplete) return;
    const line = Number.parseInt(hash, 16);
    this.#counts.set(line, (this.#counts.get(line) ?? 0) + 1);
    if (++this.#length <= this.#most) return;
    this.#counts.clear();
    this.incomplete = true;
  }

  /** Count one occurrence of a line down. False: none is left. */
  takeOne(hash: string): boolean {
    const line = Number.parseInt(hash, 16);
    const count = this.#counts.get(line) ?? 0;
    if (count > 0) this.#counts.set(line, count - 1);
    return count > 0;
  }

  has(hash: string): boolean {
    return (this.#counts.get(Number.parseInt(hash, 16)) ?? 0) > 0;
  }

  /** Those of the others are taken. */
  takeAll(others: LinesRead): void {
    for (const [line, count] of others.#counts)
      this.#counts.set(line, Math.max(0, (this.#counts.get(line) ?? 0) - count));
  }

  /** Another with the same lines; if they are more than `most`, none of them. */
  copy(most = Number.POSITIVE_INFINITY): LinesRead {
    const copy = new LinesRead(most);
    copy.incomplete = this.incomplete || this.#length > most;
    if (copy.incomplete) return copy;
    for (const [line, count] of this.#counts) copy.#counts.set(line, count);
    copy.#length = this.#length;
    return copy;
  }
}
