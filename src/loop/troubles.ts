import type {Trouble} from '../check/needs-you.ts';
import type {Report} from '../formats/daemon-event.ts';
import {type Clock, timestamp} from '../home/disk/clock.ts';

/** What is in the way just now, by where it was met: shown to the person until it is over. */
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

  /** `what` undefined: it is over. */
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

/** Told by what takes decisions in: `approval ID`. */
function isDecision(where: string): boolean {
  return where.startsWith('approval ');
}

/** What to tell the person of a failed write, and what to do about it. */
export function troubleText(path: string, error: Error): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return `${path} cannot be written: the disk is full. Free some space; it is tried again by itself`;
    case 'EACCES':
    case 'EPERM':
      return `${path} cannot be written: no permission. Look at its folder's owner and mode: ls -ld`;
    case 'EROFS':
      return `${path} cannot be written: the file system is read-only`;
    default:
      return `${path} cannot be written: ${error.message}`;
  }
}
