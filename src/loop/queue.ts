import {type Cancel, type Clock, systemClock} from '../home/disk/clock.ts';

export interface QueueOptions {
  /** Look at one key. The outcome decides when the key runs again. */
  run: (key: string) => Promise<LookOutcome> | LookOutcome;
  /** How many keys may run at a time. Called before each run. */
  concurrency: () => number;
  clock?: Clock;
}

/** Undefined: done. `after`: look again after so many milliseconds. `failed`: retry with growing delays. */
export type LookOutcome = undefined | {after: number} | {failed: Error};

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 15_000;
/** How long synchronous runs may block the event loop. */
const SLICE_MS = 10;
/** How many keys are preferred at a time. */
const MOST_PREFERRED = 16;

/**
 * A work queue of keys. A key waits at most once and never runs twice at a time; a key added while it runs is run again. Keys run in
 * order, preferred keys first: a person who has just edited a file does not wait for a thousand working agents.
 */
export class Queue {
  readonly #options: QueueOptions;
  readonly #clock: Clock;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #again = new Set<string>();
  readonly #timers = new Map<string, {cancel: Cancel; due: number}>();
  readonly #failures = new Map<string, number>();
  /** Newest last. */
  readonly #preferred = new Set<string>();
  #waiters: {holds: () => boolean; resolve: () => void}[] = [];
  #stopped = false;
  /** When the event loop last had its turn. */
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

  /** Run this key before others, until `MOST_PREFERRED` other keys have been preferred. */
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

  /** Add `key` after `ms`, or sooner if it has a timer that ends before that. Does nothing if the key already waits. */
  addAfter(key: string, ms: number): void {
    const timer = this.#timers.get(key);
    const due = this.#clock.monotonic() + ms;
    if (this.#stopped || this.#waiting.has(key) || (timer && timer.due <= due)) return;
    timer?.cancel();
    this.#timers.set(key, {cancel: this.#clock.after(ms, () => this.add(key), 'held'), due});
  }

  /** Keys that wait, run, or have a timer. */
  get size(): number {
    return this.#waiting.size + this.#running.size + this.#timers.size;
  }

  get failing(): boolean {
    return this.#failures.size > 0;
  }

  /** Whether any key waits or runs. */
  get busy(): boolean {
    return this.#waiting.size + this.#running.size > 0;
  }

  /** Resolves when no key waits, runs, or has a timer. */
  whenIdle(): Promise<void> {
    return this.#when(() => this.size === 0);
  }

  /** Resolves when no key waits or runs. A timer may add one later. */
  whenQuiet(): Promise<void> {
    return this.#when(() => !this.busy);
  }

  #when(holds: () => boolean): Promise<void> {
    return holds() ? Promise.resolve() : new Promise(resolve => this.#waiters.push({holds, resolve}));
  }

  /** Start no more runs. Resolves when the running ones have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const {cancel} of this.#timers.values()) cancel();
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

  /** The next key that may run now. The concurrency limit does not hold for preferred keys. */
  #first(): string | undefined {
    let preferred: string | undefined;
    for (const key of this.#preferred) if (this.#waiting.has(key)) preferred = key;
    if (preferred !== undefined) return preferred;
    if (this.#running.size >= this.#options.concurrency()) return undefined;
    for (const key of this.#waiting) return key;
    return undefined;
  }

  /** Yield to timers, signals and the watch. */
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
    this.#timers.get(key)?.cancel();
    this.#timers.delete(key);
  }
}
