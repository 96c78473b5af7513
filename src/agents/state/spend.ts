import {
  addSpent,
  type DaySpent,
  dayOf,
  largerSpent,
  NOTHING_SPENT,
  oneTurn,
  type Spent,
  type Usage,
} from '../../formats/session/spent.ts';
import type {DaySpend} from '../../formats/spend-file.ts';
import {type Cancel, type Clock, timestamp} from '../../home/disk/clock.ts';

/** What is not written down yet is written after this at the latest; sooner when a limit is reached, and at the stop. */
const LAZY_MS = 30_000;

/** The template that an agent's limits are in; those of all instances of a workflow count together. */
export function templateName(agent: string): string {
  return agent.split('@')[0] || agent;
}

export interface SpendOptions {
  /** It is time to write it down. */
  onDue: () => void;
  onNewDay: () => void;
  clock: Clock;
}

/**
 * What agents have used today, in UTC. In memory it is exact. In `state/spend.yaml` it lags behind, which loses nothing:
 * every session says what its own newest day came to.
 */
export class Spend {
  readonly #options: SpendOptions;
  readonly #agents = new Map<string, Spent>();
  #all: Spent = NOTHING_SPENT;
  #day = '';
  #timer: Cancel | undefined;

  constructor(options: SpendOptions) {
    this.#options = options;
    this.#day = this.#today();
  }

  /** At the start: of each agent the larger of what was written down and what its sessions say. */
  load(written: DaySpend | undefined, sessions: Iterable<{agent: string; spent?: DaySpent}>): void {
    this.#begin(this.#today());
    const said = new Map<string, Spent>();
    for (const {agent, spent} of sessions) {
      if (spent?.day !== this.#day) continue;
      const name = templateName(agent);
      said.set(name, addSpent(said.get(name) ?? NOTHING_SPENT, spent));
    }
    if (written?.day === this.#day)
      for (const [name, spent] of Object.entries(written.agents))
        said.set(name, largerSpent(said.get(name) ?? NOTHING_SPENT, spent));
    for (const [name, spent] of said) this.#count(name, spent);
  }

  /** A model has answered, at this time. Every answer costs, also one that is dropped. */
  add(agent: string, usage: Usage | undefined, at: string): void {
    if (dayOf(at) !== this.day) return;
    this.#count(templateName(agent), oneTurn(usage));
    this.#timer ??= this.#options.clock.after(LAZY_MS, () => this.due());
  }

  /** Today; with the first look at a new day, all begins anew. */
  get day(): string {
    const today = this.#today();
    if (today !== this.#day) {
      this.#begin(today);
      this.#options.onNewDay();
    }
    return this.#day;
  }

  spentBy(agent: string): Spent {
    return (this.day && this.#agents.get(templateName(agent))) || NOTHING_SPENT;
  }

  get all(): Spent {
    return this.day ? this.#all : NOTHING_SPENT;
  }

  /** What belongs into the file; undefined as long as nothing was used today. */
  value(): DaySpend | undefined {
    const {day} = this;
    if (this.#agents.size === 0) return undefined;
    const names = [...this.#agents.keys()].sort();
    return {day, agents: Object.fromEntries(names.map(name => [name, {...(this.#agents.get(name) ?? NOTHING_SPENT)}]))};
  }

  /** Write it down now. */
  due(): void {
    this.#timer?.();
    this.#timer = undefined;
    if (this.value()) this.#options.onDue();
  }

  close(): void {
    this.#timer?.();
  }

  #today(): string {
    return timestamp(this.#options.clock).slice(0, 10);
  }

  #begin(day: string): void {
    this.#day = day;
    this.#agents.clear();
    this.#all = NOTHING_SPENT;
  }

  #count(name: string, spent: Spent): void {
    this.#agents.set(name, addSpent(this.#agents.get(name) ?? NOTHING_SPENT, spent));
    this.#all = addSpent(this.#all, spent);
  }
}
