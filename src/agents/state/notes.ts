/** A note that is to be added to a file of the memory. */
export interface MemoryNote {
  text: string;
  agent: string;
  approval: string | undefined;
  written: () => void;
}

/** Notes of agents that are not in their files yet, by path. */
export class Notes {
  readonly #due = new Map<string, MemoryNote[]>();

  add(path: string, note: MemoryNote): void {
    this.#due.set(path, [...this.due(path), note]);
  }

  due(path: string): readonly MemoryNote[] {
    return this.#due.get(path) ?? [];
  }

  /** False: it was not due any more. */
  remove(path: string, note: MemoryNote): boolean {
    const rest = this.due(path).filter(each => each !== note);
    const was = rest.length < this.due(path).length;
    if (rest.length > 0) this.#due.set(path, rest);
    else this.#due.delete(path);
    return was;
  }
}
