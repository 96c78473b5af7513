/** A server that sends nothing but signs of life may do so this many times as long as one that is silent. */
const SIGNS_OF_LIFE = 10;

/** How long a server is listened to: aborts `signal` when it has been silent too long. */
export class Patience {
  readonly #controller = new AbortController();
  #ms: number;
  #timer: NodeJS.Timeout;
  #progress = performance.now();
  #ended = false;
  isOver = false;

  constructor(ms: number) {
    this.#ms = ms;
    this.#timer = setTimeout(() => this.#giveUp(), ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something came; `progress`: a part of the answer. */
  heard(progress: boolean): void {
    if (this.#ended) return;
    const now = performance.now();
    if (progress) this.#progress = now;
    if (now - this.#progress > this.#ms * SIGNS_OF_LIFE) this.#giveUp();
    else this.#timer.refresh();
  }

  /** From now on it may be silent for this long at most. */
  hurry(ms: number): void {
    if (this.#ended || ms >= this.#ms) return;
    clearTimeout(this.#timer);
    this.#ms = ms;
    this.#timer = setTimeout(() => this.#giveUp(), ms);
  }

  stop(): void {
    this.end();
    this.#controller.abort();
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #giveUp(): void {
    this.isOver = true;
    this.stop();
  }
}
