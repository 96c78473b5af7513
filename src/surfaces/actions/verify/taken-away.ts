import {findItem, type HomeState, type PastItem} from './home-state.ts';
import type {DecisionCommit, GivenApproval} from './writing.ts';

/** An approval that a person's save removed. */
export interface TakenAway {
  path: string;
  item: PastItem;
  said: GivenApproval | undefined;
  /** Whether the daemon restored it, once known. */
  back: boolean | undefined;
}

/** Fields that identify a decision. */
const DECIDED = [
  ...['agent', 'session', 'call', 'tool', 'digest', 'command', 'edited', 'original', 'answer', 'expires'],
  ...['approved_by', 'approved_at', 'signature'],
];

/**
 * Recorded approvals that a person's save removed: either on purpose, or by a stale save, which the daemon merges and
 * never acts on. The daemon's next version of the queue tells which.
 */
export class TakenAways {
  readonly #open = new Map<string, TakenAway>();

  get(id: string): TakenAway | undefined {
    return this.#open.get(id);
  }

  /** Records that `id` is no longer approved in `path`. */
  add(id: string, path: string, item: PastItem | undefined, said: GivenApproval | undefined): void {
    if (item?.decision !== 'approved' || item.status !== 'approved' || this.#open.has(id)) return;
    this.#open.set(id, {path, item, said, back: undefined});
  }

  /** Processes a new version of the queue. Returns restored approvals. */
  next(
    path: string,
    after: HomeState,
    {writer, cause}: DecisionCommit,
  ): [id: string, said: GivenApproval | undefined][] {
    const back: [string, GivenApproval | undefined][] = [];
    for (const [id, taken] of this.#open) {
      if (taken.path !== path) continue;
      const item = findItem(after, id);
      // A second save before the daemon merged.
      if (writer === 'person' && item?.decision === undefined) continue;
      this.#open.delete(id);
      const merged = writer === 'daemon' && (cause === 'merge' || cause === 'recovered');
      taken.back = merged && item !== undefined && isSame(taken.item, item);
      if (taken.back) back.push([id, taken.said]);
    }
    return back;
  }
}

function isSame(one: PastItem, other: PastItem): boolean {
  const {decision, status} = other;
  if (decision !== one.decision || status !== one.status) return false;
  return DECIDED.every(name => one.field(name) === other.field(name));
}

/** The state with the removed approval. */
export function withItem(state: HomeState, id: string, {path, item}: TakenAway): HomeState {
  const queue = new Map(state.queues.get(path)).set(id, item);
  return {...state, queues: new Map(state.queues).set(path, queue)};
}
