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
import type {Causes} from './causes.ts';

/** Delay before usage is written, so that it is on disk within 5 s. It is written sooner when a limit is reached, and at the stop. */
const LAZY_MS = 3_000;
/** After this long without a write, usage is written with the answer, and shares its commit. */
const PROMPT_MS = 1_000;
/** A write that takes longer is not waited for. */
const WRITING_MS = 100;

/** The template that holds an agent's limits. All instances of a workflow share them. */
export function templateName(agent: string): string {
  return agent.split('@')[0] || agent;
}

export interface SpendOptions {
  causes: Causes;
  /** Called when the spend file should be written. */
  onDue: () => void;
  onNewDay: () => void;
  clock: Clock;
}

/**
 * Today's usage (UTC) by agents. Exact in memory. `state/spend.yaml` may lag, which loses nothing: every session records
 * its own usage of its latest day.
 */
export class Spend {
  /** How much follows from each cause. */
  readonly causes: Causes;
  readonly #options: SpendOptions;
  readonly #agents = new Map<string, Spent>();
  #all: Spent = NOTHING_SPENT;
  #day = '';
  #timer: Cancel | undefined;
  #dueAt = Number.NEGATIVE_INFINITY;
  #isWriting = false;

  constructor(options: SpendOptions) {
    this.causes = options.causes;
    this.#options = options;
    this.#day = this.#today();
  }

  /** At the start: for each agent, take the larger of the spend file and the sum of its sessions. */
  load(written: DaySpend | undefined, sessions: Iterable<{agent: string; spent?: DaySpent}>): void {
    this.#begin(this.#today());
    const byAgent = new Map<string, Spent>();
    for (const {agent, spent} of sessions) {
      if (spent?.day !== this.#day) continue;
      const name = templateName(agent);
      byAgent.set(name, addSpent(byAgent.get(name) ?? NOTHING_SPENT, spent));
    }
    if (written?.day === this.#day)
      for (const [name, spent] of Object.entries(written.agents))
        byAgent.set(name, largerSpent(byAgent.get(name) ?? NOTHING_SPENT, spent));
    for (const [name, spent] of byAgent) this.#count(name, spent);
  }

  /** Count an answer. Dropped answers count too, since they cost. */
  add(agent: string, usage: Usage | undefined, at: string): void {
    if (dayOf(at) !== this.day) return;
    this.#count(templateName(agent), oneTurn(usage));
    this.#timer ??= this.#options.clock.after(LAZY_MS, () => this.due());
  }

  /** An answer that was counted is in its session. */
  recorded(): void {
    if (this.#timer && this.#options.clock.monotonic() - this.#dueAt >= PROMPT_MS) this.due();
  }

  /** Today. The first access on a new day resets all counts. */
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

  /** The content of the spend file; undefined if nothing was used today. */
  value(): DaySpend | undefined {
    const {day} = this;
    if (this.#agents.size === 0) return undefined;
    const names = [...this.#agents.keys()].sort();
    return {day, agents: Object.fromEntries(names.map(name => [name, {...(this.#agents.get(name) ?? NOTHING_SPENT)}]))};
  }

  /** Request a write of the spend file now. */
  due(): void {
    this.#timer?.();
    this.#timer = undefined;
    this.#dueAt = this.#options.clock.monotonic();
    if (!this.value()) return;
    this.#isWriting = true;
    this.#options.onDue();
  }

  /** Whether the spend file is about to be written. */
  get isWriting(): boolean {
    return this.#isWriting && this.#options.clock.monotonic() - this.#dueAt < WRITING_MS;
  }

  written(): void {
    this.#isWriting = false;
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
