import type {Cancel, Clock} from '../../home/disk/clock.ts';

/** The file of an agent that another one adds, to be written. */
interface AgentToWrite {
  text: string;
  by: string;
  trailers: readonly [string, string][];
  written: () => void;
}

/** Sessions that do tasks for others, and agents to add, beyond their files. Can be rebuilt from the files. */
export class DelegatedTasks {
  /** Why a session is to be stopped, by path. */
  readonly stopped = new Map<string, string>();
  /** Paths of sessions whose task ends as soon as nothing of it runs any more. */
  readonly ending = new Set<string>();
  /** Paths of sessions whose result their parent has got as a message. */
  readonly reported = new Set<string>();
  /** Ids of sessions that a person removed. */
  readonly removed = new Set<string>();
  /** Agents to add, by the path of their template. */
  readonly agents = new Map<string, AgentToWrite>();
  readonly #clock: Clock;
  readonly #limits = new Map<string, Cancel>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call `onOver` when the time of a session is over. */
  limit(path: string, ms: number, onOver: () => void): void {
    if (this.#limits.has(path)) return;
    const over = () => {
      this.#limits.delete(path);
      onOver();
    };
    this.#limits.set(path, this.#clock.after(Math.min(ms, LONGEST_TIMER_MS), over));
  }

  /** The task of this session has ended. */
  ended(path: string): void {
    this.#limits.get(path)?.();
    this.#limits.delete(path);
    this.stopped.delete(path);
    this.ending.delete(path);
  }
}

/** Longer timers of Node fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
