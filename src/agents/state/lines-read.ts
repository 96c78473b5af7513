/** Lines of longer files are not remembered. */
export const MAX_REMEMBERED_LINES = 100_000;

/** Counts the lines that were read, by hash. Needed when an editor rewrites an inbox file. */
export class LinesRead {
  /** Hashes of twelve hex digits, kept as numbers to save memory. */
  readonly #counts = new Map<number, number>();
  readonly #most: number;
  #length = 0;
  /** Some of the lines that were read are not counted. */
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

  /** Remove one occurrence of a line. False: there was none. */
  takeOne(hash: string): boolean {
    const line = Number.parseInt(hash, 16);
    const count = this.#counts.get(line) ?? 0;
    if (count > 0) this.#counts.set(line, count - 1);
    return count > 0;
  }

  has(hash: string): boolean {
    return (this.#counts.get(Number.parseInt(hash, 16)) ?? 0) > 0;
  }

  /** Remove all lines of `others`. */
  takeAll(others: LinesRead): void {
    for (const [line, count] of others.#counts)
      this.#counts.set(line, Math.max(0, (this.#counts.get(line) ?? 0) - count));
  }

  /** A copy; `incomplete` if there are more than `most` lines. */
  copy(most = Number.POSITIVE_INFINITY): LinesRead {
    const copy = new LinesRead(most);
    copy.incomplete = this.incomplete || this.#length > most;
    if (copy.incomplete) return copy;
    for (const [line, count] of this.#counts) copy.#counts.set(line, count);
    copy.#length = this.#length;
    return copy;
  }
}
