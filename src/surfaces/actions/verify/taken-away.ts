import {findItem, type HomeState, type PastItem} from './home-state.ts';
import type {DecisionCommit, GivenApproval} from './writing.ts';

/** A yes that a person's version of a queue does not have any more. */
export interface TakenAway {
  path: string;
  /** As it was before. */
  item: PastItem;
  said: GivenApproval | undefined;
  /** Whether the daemon put it back, as soon as that is known. */
  back: boolean | undefined;
}

/** What of an item makes it this decision and no other. */
const DECIDED = [
  ...['agent', 'session', 'call', 'tool', 'digest', 'command', 'edited', 'original', 'answer', 'expires'],
  ...['approved_by', 'approved_at', 'signature'],
];

/**
 * Yeses that the daemon had recorded and a person's save does not have. Either they took it back, or saved a text from before it: an
 * old buffer, which the daemon merges at once, so that it never acted on it. Which of both, the daemon's next version of the
 * queue says.
 */
export class TakenAways {
  readonly #open = new Map<string, TakenAway>();

  get(id: string): TakenAway | undefined {
    return this.#open.get(id);
  }

  /** `id` is no longer approved in `path`. */
  add(id: string, path: string, item: PastItem | undefined, said: GivenApproval | undefined): void {
    if (item?.decision !== 'approved' || item.status !== 'approved' || this.#open.has(id)) return;
    this.#open.set(id, {path, item, said, back: undefined});
  }

  /** Another version of this queue. Gives what the daemon put back as it was. */
  next(
    path: string,
    after: HomeState,
    {writer, cause}: DecisionCommit,
  ): [id: string, said: GivenApproval | undefined][] {
    const back: [string, GivenApproval | undefined][] = [];
    for (const [id, taken] of this.#open) {
      if (taken.path !== path) continue;
      const item = findItem(after, id);
      // They saved once more before the daemon came to it.
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

/** The state with the yes as it was before it was taken away. */
export function withItem(state: HomeState, id: string, {path, item}: TakenAway): HomeState {
  const queue = new Map(state.queues.get(path)).set(id, item);
  return {...state, queues: new Map(state.queues).set(path, queue)};
}
