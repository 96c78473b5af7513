import type {Clock} from '../home/disk/clock.ts';
import type {HomeJournal} from '../home/home-git.ts';

/** How long questions are gathered into one call of git. */
const GATHER_MS = 2;

/** Which files git ignores. Batches calls of git, and caches the answers until a .gitignore may have changed. */
export class IgnoredFiles {
  readonly #clock: Clock;
  readonly #journal: Pick<HomeJournal, 'ignored' | 'isSurelyKept'>;
  readonly #answers = new Map<string, boolean>();
  #batch: {paths: string[]; answer: Promise<void>} | undefined;

  constructor(clock: Clock, journal: Pick<HomeJournal, 'ignored' | 'isSurelyKept'>) {
    this.#clock = clock;
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
    this.#batch ??= {paths: [], answer: this.#clock.pause(GATHER_MS).then(() => this.#answer())};
    this.#batch.paths.push(path);
    return this.#batch.answer;
  }

  async #answer(): Promise<void> {
    const paths = this.#batch?.paths ?? [];
    this.#batch = undefined;
    const ignored = await this.#journal.ignored(paths);
    for (const path of paths) this.#answers.set(path, ignored.has(path));
  }
}
