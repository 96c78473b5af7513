import {type Cancel, type Clock, systemClock} from '../home/disk/clock.ts';

export interface QueueOptions {
  /** Look at one key. What it returns decides when the key is looked at again, and nothing else does. */
  run: (key: string) => Promise<LookOutcome> | LookOutcome;
  /** How many keys may run at a time, asked for each. */
  concurrency: () => number;
  clock?: Clock;
}

/** Done; look again after a while; or failed, which is tried again later and later. */
export type LookOutcome = undefined | {after: number} | {failed: Error};

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 15_000;
/** Runs that wait for nothing follow each other for so long before others have their turn. */
const SLICE_MS = 10;
/** So many keys at a time go before all others. */
const MOST_PREFERRED = 16;

/**
 * Keys to look at: each once, however often it was added; one run a key at a time; a key that is added while it runs
 * is run again. Keys are run in the order they came, but for those that were preferred last: a person who has just edited a file
 * does not wait for a thousand agents at work. It holds no state that a look at the files could not give.
 */
export class Queue {
  readonly #options: QueueOptions;
  readonly #clock: Clock;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #again = new Set<string>();
  readonly #timers = new Map<string, Cancel>();
  readonly #failures = new Map<string, number>();
  /** Newest last. */
  readonly #preferred = new Set<string>();
  #waiters: {holds: () => boolean; resolve: () => void}[] = [];
  #stopped = false;
  /** When the loop had its turn last, as far as is known. */
  #slice = 0;
  #pausing = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  add(key: string): void {
    if (this.#stopped) return;
    if (this.#running.has(key)) {
      this.#again.add(key);
      return;
    }
    this.#clear(key);
    this.#waiting.add(key);
    this.#next();
  }

  /** From now on this key goes before others, until so many others were preferred after it. */
  prefer(key: string): void {
    this.#preferred.delete(key);
    this.#preferred.add(key);
    for (const oldest of this.#preferred) {
      if (this.#preferred.size <= MOST_PREFERRED) break;
      this.#preferred.delete(oldest);
    }
  }

  isPreferred(key: string): boolean {
    return this.#preferred.has(key);
  }

  /** Look at `key` after `ms`, unless it is looked at before. The sooner of two wins. */
  addAfter(key: string, ms: number): void {
    if (this.#stopped || this.#waiting.has(key) || this.#timers.has(key)) return;
    this.#timers.set(
      key,
      this.#clock.after(ms, () => this.add(key), 'held'),
    );
  }

  /** Keys that are waiting, running, or will be looked at by themselves. */
  get size(): number {
    return this.#waiting.size + this.#running.size + this.#timers.size;
  }

  get failing(): boolean {
    return this.#failures.size > 0;
  }

  /** Whether something is looked at, or about to be. */
  get busy(): boolean {
    return this.#waiting.size + this.#running.size > 0;
  }

  /** When nothing waits or runs, and no timer will start anything. */
  whenIdle(): Promise<void> {
    return this.#when(() => this.size === 0);
  }

  /** When nothing waits or runs; a timer may start something later. */
  whenQuiet(): Promise<void> {
    return this.#when(() => !this.busy);
  }

  #when(holds: () => boolean): Promise<void> {
    return holds() ? Promise.resolve() : new Promise(resolve => this.#waiters.push({holds, resolve}));
  }

  /** Start nothing more; resolves when what runs has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#waiting.clear();
    this.#again.clear();
    await this.whenIdle();
  }

  #next(): void {
    if (this.#pausing) return;
    for (let key = this.#first(); key !== undefined; key = this.#first()) {
      if (this.#clock.monotonic() - this.#slice > SLICE_MS) {
        this.#pause();
        return;
      }
      this.#waiting.delete(key);
      this.#running.add(key);
      void this.#run(key);
    }
  }

  /** The next key to run; undefined: none may run now. Preferred keys may run beside as many others as there are. */
  #first(): string | undefined {
    let preferred: string | undefined;
    for (const key of this.#preferred) if (this.#waiting.has(key)) preferred = key;
    if (preferred !== undefined) return preferred;
    if (this.#running.size >= this.#options.concurrency()) return undefined;
    for (const key of this.#waiting) return key;
    return undefined;
  }

  /** Let timers, signals and the watch have their turn. */
  #pause(): void {
    this.#pausing = true;
    void this.#clock.nextTurn().then(() => {
      this.#pausing = false;
      this.#slice = this.#clock.monotonic();
      this.#next();
    });
  }

  async #run(key: string): Promise<void> {
    let outcome: LookOutcome;
    try {
      const result = this.#options.run(key);
      outcome = result instanceof Promise ? await result : result;
    } catch (error) {
      outcome = {failed: error as Error};
    }
    this.#running.delete(key);
    if (outcome && 'failed' in outcome) {
      const failures = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, failures);
      this.addAfter(key, Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 20)));
    } else {
      this.#failures.delete(key);
      if (outcome) this.addAfter(key, outcome.after);
    }
    if (this.#again.delete(key)) this.add(key);
    this.#next();
    for (const {resolve} of this.#waiters.filter(({holds}) => holds())) resolve();
    this.#waiters = this.#waiters.filter(({holds}) => !holds());
  }

  #clear(key: string): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
  }
}
