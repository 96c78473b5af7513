import {type Clock, timestamp} from '../home/disk/clock.ts';

/** Started calls as saved in a checkpoint. */
export interface StartedCallsCheckpoint {
  /** `names` has every call started since this time. Older ones are in the journal. */
  since: string;
  names: readonly string[];
}

const MAX_NAMES = 60_000;

/**
 * Names of calls and approvals that were started, so that none starts twice. Normally the mark in the session tells; this class covers
 * an older version of the session that git restored. The version log records each name with the version that marks it, and the
 * checkpoint keeps the names.
 */
export class StartedCalls {
  readonly #clock: Clock;
  #names: Set<string>;
  #since: string;
  /** Sessions whose started calls were read from the journal. */
  readonly #recalled = new Set<string>();

  constructor(clock: Clock, {since, names}: StartedCallsCheckpoint) {
    this.#clock = clock;
    this.#since = since;
    this.#names = new Set(names);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Whether calls of this time may be missing here, so that the journal must be read. */
  mayHaveForgotten(session: string, time: string): boolean {
    return time < this.#since && !this.#recalled.has(session);
  }

  /** Add the started calls that the journal has for a session. */
  recalled(session: string, names: readonly string[]): void {
    this.add(names);
    this.#recalled.add(session);
  }

  add(names: readonly string[]): void {
    for (const name of names) this.#names.add(name);
    if (this.#names.size <= MAX_NAMES) return;
    // Forget the older half.
    this.#names = new Set([...this.#names].slice(this.#names.size >> 1));
    this.#since = timestamp(this.#clock);
    this.#recalled.clear();
  }

  soFar(): StartedCallsCheckpoint {
    return {since: this.#since, names: [...this.#names]};
  }
}
