/** A server that sends nothing but signs of life may do so this many times as long as one that is silent. */
const SIGNS_OF_LIFE = 10;
/** A timer that comes so much too late means that this process was busy, and may not have read what has come. */
const LATE_MS = 50;
const MOST_EXTENSIONS = 10;

/**
 * How long a server is listened to: aborts `signal` when it has been silent too long. It is the server's silence that
 * counts, not that of a process which has had no time to read.
 */
export class SilenceTimer {
  readonly #controller = new AbortController();
  #ms: number;
  #timer: NodeJS.Timeout | undefined;
  #waits = 0;
  /** When the server was last heard, or was given more time because this process was late. */
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

  /** Something came; `progress`: a part of the answer. */
  heard(progress: boolean): void {
    if (this.#ended) return;
    const now = performance.now();
    this.#extensions = 0;
    if (progress) this.#progress = now;
    if (now - this.#progress > this.#ms * SIGNS_OF_LIFE) this.#giveUp();
    else this.#wait(this.#ms);
  }

  /** From now on it may be silent for this long at most. */
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
    // Timers come before reading: what has come meanwhile is read first, and then it is heard.
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
