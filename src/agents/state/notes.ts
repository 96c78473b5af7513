/** A note to append to a memory file. */
export interface MemoryNote {
  text: string;
  agent: string;
  approval: string | undefined;
  written: () => void;
}

/** Notes that are not written yet, by path. */
export class Notes {
  readonly #due = new Map<string, MemoryNote[]>();

  add(path: string, note: MemoryNote): void {
    this.#due.set(path, [...this.due(path), note]);
  }

  due(path: string): readonly MemoryNote[] {
    return this.#due.get(path) ?? [];
  }

  /** Returns false if the note was not due any more. */
  remove(path: string, note: MemoryNote): boolean {
    const rest = this.due(path).filter(each => each !== note);
    const found = rest.length < this.due(path).length;
    if (rest.length > 0) this.#due.set(path, rest);
    else this.#due.delete(path);
    return found;
  }
}
