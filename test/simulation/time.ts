import type {Cancel, Clock} from '../../src/home/disk/clock.ts';
import {Killed, type SimulatedProcess} from './process.ts';
import type {SeededRandom} from './random.ts';

interface Task {
  at: number;
  /** Tasks of one moment run in an order that follows from the seed. */
  order: number;
  owner: SimulatedProcess | undefined;
  work: () => void;
}

/** Virtual time: it advances to the next task when nothing else can run. */
export class SimulatedTime {
  readonly #random: SeededRandom;
  readonly #origin: number;
  #now = 0;
  /** A heap by time, then order. */
  readonly #tasks: Task[] = [];
  readonly #cancelled = new WeakSet<Task>();

  constructor(random: SeededRandom, origin: number) {
    this.#random = random;
    this.#origin = origin;
  }

  /** A timer threw something: the end of a real process. */
  onError: (error: Error) => void = error => {
    throw error;
  };

  /** Milliseconds since 1970. */
  get now(): number {
    return this.#origin + this.#now;
  }

  get elapsed(): number {
    return this.#now;
  }

  /** `owner`: a process; once it is dead, nothing is done for it. */
  after(ms: number, work: () => void, owner?: SimulatedProcess): Cancel {
    const task: Task = {at: this.#now + Math.max(0, ms), order: this.#random.fraction(), owner, work};
    push(this.#tasks, task);
    return () => this.#cancelled.add(task);
  }

  clockOf(owner: SimulatedProcess): Clock {
    const began = this.now;
    return {
      origin: began,
      now: () => Math.trunc(this.now),
      monotonic: () => this.#now,
      after: (ms, work) => this.after(ms, work, owner),
      pause: ms => new Promise(resolve => this.after(ms, resolve, owner)),
      nextTurn: () => new Promise(resolve => this.after(0, resolve, owner)),
    };
  }

  /** Let `ms` pass. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      // Whatever was waiting for the last task runs now, until all of it waits again.
      await new Promise<void>(resolve => setImmediate(resolve));
      const next = this.#tasks[0];
      if (!next || next.at > end) break;
      pop(this.#tasks);
      if (this.#cancelled.has(next) || next.owner?.isDead) continue;
      this.#now = Math.max(this.#now, next.at);
      try {
        next.work();
      } catch (error) {
        if (!(error instanceof Killed)) this.onError(error as Error);
      }
    }
    this.#now = end;
  }
}

function isBefore(a: Task, b: Task): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Task[], task: Task): void {
  let at = heap.length;
  heap.push(task);
  while (at > 0) {
    const above = (at - 1) >> 1;
    const other = heap[above] as Task;
    if (!isBefore(task, other)) break;
    heap[at] = other;
    at = above;
  }
  heap[at] = task;
}

function pop(heap: Task[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && isBefore(heap[below + 1] as Task, heap[below] as Task)) below++;
    if (!isBefore(heap[below] as Task, last)) break;
    heap[at] = heap[below] as Task;
    at = below;
  }
  heap[at] = last;
}
