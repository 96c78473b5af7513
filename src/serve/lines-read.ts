/** Files with more lines are not remembered line by line. */
const MOST = 100_000;

/** How often each line was read, by content. Only an editor that writes a file anew makes anybody ask. */
export class LinesRead {
  readonly #counts = new Map<string, number>();
  #length = 0;
  /** Some lines that were read are not in it. */
  incomplete = false;

  add(hash: string): void {
    if (this.incomplete) return;
    this.#counts.set(hash, (this.#counts.get(hash) ?? 0) + 1);
    if (++this.#length <= MOST) return;
    this.#counts.clear();
    this.incomplete = true;
  }

  /** One of these lines; false: there is none left. */
  take(hash: string): boolean {
    const count = this.#counts.get(hash) ?? 0;
    if (count > 0) this.#counts.set(hash, count - 1);
    return count > 0;
  }

  has(hash: string): boolean {
    return (this.#counts.get(hash) ?? 0) > 0;
  }

  *hashes(): Iterable<string> {
    for (const [hash, count] of this.#counts) for (let i = 0; i < count; i++) yield hash;
  }

  /** Another that can be taken from. */
  copy(): LinesRead {
    const copy = new LinesRead();
    for (const [hash, count] of this.#counts) copy.#counts.set(hash, count);
    copy.#length = this.#length;
    copy.incomplete = this.incomplete;
    return copy;
  }
}
