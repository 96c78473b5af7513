/** A server that sends keep-alives but no progress may go on for this many times the silence limit. */
const SIGNS_OF_LIFE = 10;
/** A timer that fires this late means that this process was busy and may not have read what arrived. */
const LATE_MS = 50;
const MOST_EXTENSIONS = 10;

/** Aborts `signal` when a server has been silent too long. Time in which this process could not read does not count. */
export class SilenceTimer {
  readonly #controller = new AbortController();
  #ms: number;
  #timer: NodeJS.Timeout | undefined;
  #waits = 0;
  /** When the server was last heard, or was granted more time because this process was late. */
  #since = performance.now();
  #progress = performance.now();
  #extensions = 0;
  #ended = false;
  isOver = false;

  constructor(ms: number) {
    this.#ms = ms;
    this.#wait(ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something arrived. `progress`: it was a part of the answer. */
  heard(progress: boolean): void {
    if (this.#ended) return;
    const now = performance.now();
    this.#extensions = 0;
    if (progress) this.#progress = now;
    if (now - this.#progress > this.#ms * SIGNS_OF_LIFE) this.#giveUp();
    else this.#wait(this.#ms);
  }

  /** Reduce the allowed silence to `ms`. */
  hurry(ms: number): void {
    if (this.#ended || ms >= this.#ms) return;
    this.#ms = ms;
    this.#wait(ms);
  }

  stop(): void {
    this.end();
    this.#controller.abort();
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #wait(ms: number): void {
    this.#since = performance.now();
    if (this.#timer && ms === this.#waits) this.#timer.refresh();
    else {
      clearTimeout(this.#timer);
      this.#waits = ms;
      this.#timer = setTimeout(() => this.#onSilence(), ms);
    }
  }

  #onSilence(): void {
    const late = performance.now() - this.#since - this.#waits;
    if (late > LATE_MS && this.#extensions++ < MOST_EXTENSIONS) {
      this.#wait(Math.min(late, this.#ms));
      return;
    }
    // Timers run before reads: let pending data be read first; it counts as heard.
    const since = this.#since;
    setImmediate(() =>
      setImmediate(() => {
        if (!this.#ended && this.#since === since) this.#giveUp();
      }),
    );
  }

  #giveUp(): void {
    this.isOver = true;
    this.stop();
  }
}
