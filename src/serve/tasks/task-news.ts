import type {TaskNews} from '../../reconcile/task.ts';

/** `heard`: since this daemon runs, its session has said how far it is. */
export type Heard = TaskNews & {heard?: boolean};

/** What is known of tasks beyond their files, by `keyOf`. All of it follows again from sessions and the queue. */
export class TasksHeard {
  readonly #news = new Map<string, Heard>();

  get(key: string): Heard | undefined {
    return this.#news.get(key);
  }

  add(key: string, news: Heard): void {
    this.#news.set(key, {...this.#news.get(key), ...news});
  }

  /** Its file says all of it. */
  forget(key: string): void {
    this.#news.delete(key);
  }
}
