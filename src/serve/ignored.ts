import type {Journal} from '../store/journal.ts';

const GATHER_MS = 2;

/** Which files git ignores: asked once for many, and again when a .gitignore may have changed. */
export class Ignored {
  readonly #journal: Pick<Journal, 'ignored' | 'isSurelyKept'>;
  readonly #answers = new Map<string, boolean>();
  #asked: {paths: string[]; answer: Promise<void>} | undefined;

  constructor(journal: Pick<Journal, 'ignored' | 'isSurelyKept'>) {
    this.#journal = journal;
  }

  async has(path: string): Promise<boolean> {
    if (!this.#answers.has(path)) {
      if (this.#journal.isSurelyKept(path)) return false;
      await this.#ask(path);
    }
    return this.#answers.get(path) === true;
  }

  forget(): void {
    this.#answers.clear();
  }

  #ask(path: string): Promise<void> {
    this.#asked ??= {paths: [], answer: new Promise(resolve => setTimeout(() => resolve(this.#answer()), GATHER_MS))};
    this.#asked.paths.push(path);
    return this.#asked.answer;
  }

  async #answer(): Promise<void> {
    const paths = this.#asked?.paths ?? [];
    this.#asked = undefined;
    const ignored = await this.#journal.ignored(paths);
    for (const path of paths) this.#answers.set(path, ignored.has(path));
  }
}
