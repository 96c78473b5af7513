import type {Facts} from '../../check/facts.ts';
import type {FactsFollower} from '../../loop/reconciler.ts';

/** Counts sessions by status. */
export class SessionCounts implements FactsFollower {
  readonly #byStatus = new Map<string, number>();

  factsChanged(_path: string, before: Facts | undefined, now: Facts | undefined): void {
    this.#count(before?.session, -1);
    this.#count(now?.session, 1);
  }

  /** Counts above zero. */
  byStatus(): Record<string, number> {
    return Object.fromEntries([...this.#byStatus].filter(([, count]) => count > 0));
  }

  #count(session: Facts['session'], by: number): void {
    const status = session?.status ?? 'new';
    if (session && !session.segment) this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + by);
  }
}
