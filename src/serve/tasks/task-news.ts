import type {TaskNews} from '../../reconcile/task.ts';

/** `heard`: since this daemon runs, its session has said how far it is. */
export type Heard = TaskNews & {heard?: boolean};

/** What is known of tasks beyond their files, by `keyOf`. All of it follows again from sessions and the queue. */
export class TasksHeard {
  readonly #news = new Map<string, Heard>();
  /** Ids of tasks under way, as long as their files have them. */
  readonly #met = new Set<string>();
  /** Sessions at rest, by path, that may have ended their turn while the file of a task of theirs was not there. */
  readonly unsure = new Set<string>();

  get(key: string): Heard | undefined {
    return this.#news.get(key);
  }

  add(key: string, news: Heard): void {
    this.#news.set(key, {...this.#news.get(key), ...news});
  }

  /** Whether it was not there before, or not under way. */
  meet(id: string): boolean {
    return this.#met.size !== this.#met.add(id).size;
  }

  /** No file has it. */
  miss(id: string): void {
    this.#met.delete(id);
  }

  /** Its file says all of it. */
  forget(key: string): void {
    this.#news.delete(key);
  }
}
