import type {Settings} from '../../formats/settings.ts';
import type {Cancel, Clock} from '../../home/disk/clock.ts';

/** Longest time between looks: the clock may jump, and timers may sleep. */
const LONGEST_MS = 20_000;

export interface SchedulesOptions {
  clock: Clock;
  settings: () => Promise<Settings>;
  /** Look for due messages. `any`: there are schedules. */
  look: (any: boolean) => void;
}

/** Decides when to look at state/schedules.yaml, which records claimed and delivered times. */
export class Schedules {
  readonly #options: SchedulesOptions;
  #timer: Cancel | undefined;
  #closed = false;
  /** Ids of deliveries that are done but may still be due in the file. */
  readonly delivered = new Set<string>();
  readonly posted = new Set<string>();
  /** Workflows that are being started. */
  readonly starting = new Set<Promise<void>>();

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  /** Look now, and again at the next scheduled time. Call when the settings have changed. */
  async tick(): Promise<void> {
    const {schedules} = await this.#options.settings();
    const all = schedules ?? [];
    this.#timer?.();
    if (this.#closed) return;
    this.#options.look(all.length > 0);
    if (all.length === 0) return;
    // Loaded on demand: it is slow to load.
    const {nextSlot} = await import('../../formats/schedule-slots.ts');
    const now = this.#options.clock.now();
    const next = Math.min(...all.map(schedule => nextSlot(schedule, now) ?? Number.POSITIVE_INFINITY));
    // A timer may fire a little early.
    const wait = Math.max(5, Math.min(LONGEST_MS, next - now + 2));
    this.#timer?.();
    if (!this.#closed) this.#timer = this.#options.clock.after(wait, () => void this.tick());
  }

  /** Forget deliveries that are no longer due. */
  forget(due: ReadonlySet<string>): void {
    for (const all of [this.delivered, this.posted]) for (const id of all) if (!due.has(id)) all.delete(id);
  }

  close(): void {
    this.#closed = true;
    this.#timer?.();
  }
}
