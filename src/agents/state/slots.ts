/** A caller that waits for a slot. */
interface Waiter {
  group: string;
  /** Evaluated whenever a slot becomes free, because preferences change. */
  isPreferred: () => boolean;
  go: () => void;
}

/**
 * Limits concurrency. Preferred waiters go first, otherwise first come, first served. Each group may exceed `most` by one
 * slot, so that a server which never answers cannot block the others. `limit` is never exceeded.
 */
export class SlotPool {
  readonly #most: () => number;
  readonly #limit: number;
  readonly #waiting: Waiter[] = [];
  readonly #taken = new Map<string, number>();
  #count = 0;

  /** `most` is evaluated each time, because the setting may change. */
  constructor(most: () => number, limit = Number.POSITIVE_INFINITY) {
    this.#most = most;
    this.#limit = limit;
  }

  /** Wait for a slot. Resolves to the function that releases it, or to undefined if `signal` aborts first. */
  async acquire(
    group: string,
    signal: AbortSignal,
    isPreferred: () => boolean = () => false,
  ): Promise<(() => void) | undefined> {
    if (signal.aborted) return undefined;
    if (this.#mayGo(group)) this.#change(group, 1);
    else if (!(await this.#wait(group, signal, isPreferred))) return undefined;
    let held = true;
    const giveBack = () => {
      if (held) this.#release(group);
      held = false;
    };
    if (!signal.aborted) return giveBack;
    giveBack();
    return undefined;
  }

  #mayGo(group: string): boolean {
    return this.#count < this.#limit && (this.#count < this.#most() || !this.#taken.has(group));
  }

  #change(group: string, by: 1 | -1): void {
    this.#count += by;
    const taken = (this.#taken.get(group) ?? 0) + by;
    if (taken > 0) this.#taken.set(group, taken);
    else this.#taken.delete(group);
  }

  /** Resolves to true once a slot, already counted as taken, was handed over. */
  #wait(group: string, signal: AbortSignal, isPreferred: () => boolean): Promise<boolean> {
    return new Promise(resolve => {
      const go = () => {
        signal.removeEventListener('abort', leave);
        resolve(true);
      };
      const waiter: Waiter = {group, isPreferred, go};
      const leave = () => {
        const at = this.#waiting.indexOf(waiter);
        if (at !== -1) this.#waiting.splice(at, 1);
        resolve(false);
      };
      this.#waiting.push(waiter);
      signal.addEventListener('abort', leave, {once: true});
    });
  }

  #release(group: string): void {
    this.#change(group, -1);
    for (;;) {
      const may = (waiter: Waiter) => this.#mayGo(waiter.group);
      const preferred = this.#waiting.findIndex(waiter => waiter.isPreferred() && may(waiter));
      const at = preferred === -1 ? this.#waiting.findIndex(may) : preferred;
      const [next] = at === -1 ? [] : this.#waiting.splice(at, 1);
      if (!next) return;
      this.#change(next.group, 1);
      next.go();
    }
  }
}
