import {type Clock, timestamp} from '../home/disk/clock.ts';

/** What a checkpoint keeps of calls that were started. */
export interface StartedCallsCheckpoint {
  /** From when on every started call is named: what is older, the journal tells. */
  since: string;
  names: readonly string[];
}

const MAX_NAMES = 60_000;

/**
 * Calls and approvals that were started once, by name. The mark in the session is what counts; this is for when an older version
 * of the session is brought back by git: nothing may start twice. The version log records each name with the version that marks
 * it, and the checkpoint keeps them.
 */
export class StartedCalls {
  readonly #clock: Clock;
  #names: Set<string>;
  #since: string;
  /** Sessions of which all is here that the journal tells. */
  readonly #recalled = new Set<string>();

  constructor(clock: Clock, {since, names}: StartedCallsCheckpoint) {
    this.#clock = clock;
    this.#since = since;
    this.#names = new Set(names);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Whether calls of this time may have started without being known here. */
  mayHaveForgotten(session: string, time: string): boolean {
    return time < this.#since && !this.#recalled.has(session);
  }

  /** What the journal tells of a session. */
  recalled(session: string, names: readonly string[]): void {
    this.add(names);
    this.#recalled.add(session);
  }

  add(names: readonly string[]): void {
    for (const name of names) this.#names.add(name);
    if (this.#names.size <= MAX_NAMES) return;
    // The older half is forgotten.
    this.#names = new Set([...this.#names].slice(this.#names.size >> 1));
    this.#since = timestamp(this.#clock);
    this.#recalled.clear();
  }

  soFar(): StartedCallsCheckpoint {
    return {since: this.#since, names: [...this.#names]};
  }
}
