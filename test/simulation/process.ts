import type {Holder} from '../../src/home/disk/holder.ts';

/** Thrown into a process that is dead: whatever it still does has no effect. */
export class Killed extends Error {
  override readonly name = 'Killed';
  readonly code = 'EKILLED';
}

/** How a process ends: killed, what it wrote stays; at a power cut, what was not synced may be gone. */
export type Death = 'kill' | 'power';

/** A daemon that runs in this simulation. Every change it makes to the world is a step, and may be its last. */
export class SimulatedProcess {
  readonly holder: Holder;
  readonly #onDeath: (how: Death) => void;
  #death: {at: number; how: Death} | undefined;
  /** How many steps it made. */
  steps = 0;
  isDead = false;

  constructor(holder: Holder, onDeath: (how: Death) => void) {
    this.holder = holder;
    this.#onDeath = onDeath;
  }

  /** It dies in so many steps from now. */
  dieAfter(steps: number, how: Death): void {
    this.#death = {at: this.steps + steps, how};
  }

  get isDoomed(): boolean {
    return this.#death !== undefined;
  }

  /** A change is about to be made. Throws if the process is dead, or dies now. */
  step(): void {
    this.check();
    this.steps++;
    if (this.#death && this.steps > this.#death.at) this.die(this.#death.how);
    this.check();
  }

  check(): void {
    if (this.isDead) throw new Killed('this process is dead');
  }

  die(how: Death): void {
    if (this.isDead) return;
    this.isDead = true;
    this.#onDeath(how);
  }

  /** A promise for a process: never kept once it is dead. */
  while<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        value => {
          if (!this.isDead) resolve(value);
        },
        error => {
          if (!this.isDead) reject(error);
        },
      );
    });
  }
}
