import type {Settings} from '../../formats/settings.ts';
import type {Cancel, Clock} from '../../home/disk/clock.ts';

/** The clock may jump, and timers may sleep: it is looked at so often at least. */
const LONGEST_MS = 20_000;

export interface SchedulesOptions {
  clock: Clock;
  settings: () => Promise<Settings>;
  /** Look at what is due. `any`: there are schedules. */
  look: (any: boolean) => void;
}

/** Messages at fixed times. What is claimed and what is delivered is in state/schedules.yaml; this only says when to look there. */
export class Schedules {
  readonly #options: SchedulesOptions;
  #timer: Cancel | undefined;
  #closed = false;
  /** Delivered, and perhaps still said to be due: by delivery. */
  readonly delivered = new Set<string>();
  readonly posted = new Set<string>();

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  /** The settings are others, or a time has come: look, and again when the next one comes. */
  async tick(): Promise<void> {
    const {schedules} = await this.#options.settings();
    const all = schedules ?? [];
    this.#timer?.();
    if (this.#closed) return;
    this.#options.look(all.length > 0);
    if (all.length === 0) return;
    // Not before it is needed: it takes a while to load.
    const {nextSlot} = await import('../../formats/schedule-slots.ts');
    const now = this.#options.clock.now();
    const next = Math.min(...all.map(schedule => nextSlot(schedule, now) ?? Number.POSITIVE_INFINITY));
    // A timer may come a little early.
    const wait = Math.max(5, Math.min(LONGEST_MS, next - now + 2));
    this.#timer?.();
    if (!this.#closed) this.#timer = this.#options.clock.after(wait, () => void this.tick());
  }

  /** What is not due any more need not be known. */
  forget(due: ReadonlySet<string>): void {
    for (const all of [this.delivered, this.posted]) for (const id of all) if (!due.has(id)) all.delete(id);
  }

  close(): void {
    this.#closed = true;
    this.#timer?.();
  }
}
