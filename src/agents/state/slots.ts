/** Who waits for a slot. */
interface Waiter {
  group: string;
  /** Asked whenever a slot is free: somebody may have come to wait for it meanwhile. */
  isPreferred: () => boolean;
  go: () => void;
}

/**
 * So many at a time: those that are preferred first, each kind in the order they came. Of each group one may go beyond that: a
 * server that answers nothing, and so holds all the slots there are, does not keep others from being asked. `limit` holds whatever
 * the number of groups.
 */
export class SlotPool {
  readonly #most: () => number;
  readonly #limit: number;
  readonly #waiting: Waiter[] = [];
  readonly #taken = new Map<string, number>();
  #count = 0;

  /** `most` is asked each time: a person may change it. */
  constructor(most: () => number, limit = Number.POSITIVE_INFINITY) {
    this.#most = most;
    this.#limit = limit;
  }

  /** Wait for a slot. Resolves to the function that releases it, or to undefined if `signal` came first. */
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

  /** Whether a slot was handed on, which is counted as taken. */
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
