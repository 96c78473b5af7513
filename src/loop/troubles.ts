import type {Trouble} from '../check/needs-you.ts';
import type {Report} from '../formats/daemon-event.ts';
import {type Clock, timestamp} from '../home/disk/clock.ts';
import {refusedWrite} from '../home/write-failure.ts';
import {isDiskFull} from './full-disk.ts';

/** Current operational problems, by where they occurred. Each is shown to the person until it is over. */
export class Troubles {
  readonly #troubles = new Map<string, Trouble>();
  readonly #clock: Clock;
  readonly #report: Report;
  readonly #onChanged: () => void;

  constructor(clock: Clock, report: Report, onChanged: () => void) {
    this.#clock = clock;
    this.#report = report;
    this.#onChanged = onChanged;
  }

  /** `what` undefined: the trouble is over. */
  set(where: string, what: string | undefined): void {
    const before = this.#troubles.get(where);
    if (before?.what === what) return;
    if (what === undefined) this.#troubles.delete(where);
    else
      this.#troubles.set(where, {
        what,
        since: before?.since ?? timestamp(this.#clock),
        ...(isDecision(where) && {decision: true}),
      });
    if (what !== undefined) this.#report({event: 'trouble', what});
    else if (before) this.#report({event: 'over', what: before.what});
    this.#onChanged();
  }

  has(where: string): boolean {
    return this.#troubles.has(where);
  }

  list(): Trouble[] {
    return [...this.#troubles.values()];
  }
}

/** Whether the trouble concerns an approval decision: its key is `approval ID`. */
function isDecision(where: string): boolean {
  return where.startsWith('approval ');
}

/** Describe a failed write and how to fix it. */
export function troubleText(path: string, error: Error): string {
  const refused = refusedWrite(error);
  const remedy = refused?.remedy === undefined ? '' : `. ${refused.remedy}`;
  const retry = isDiskFull(error) ? '; the daemon retries' : '';
  return `${path} cannot be written: ${refused?.why ?? error.message}${remedy}${retry}`;
}
