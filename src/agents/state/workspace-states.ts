import type {WholeState} from '../../effects/tool/tool.ts';
import type {Clock} from '../../home/disk/clock.ts';

/** A call that a person approved turned one state of a workspace into another. */
interface Step {
  before: string;
  after: string;
}

interface KnownState {
  state: WholeState;
  at: number;
}

const MOST_STEPS = 200;
/** Requests of one answer are bound to one state, so that the workspace is read once for all of them. */
const KNOWN_MS = 1_000;

/**
 * States of workspaces, as digests. A decision is bound to the state that the person saw. What other approved calls did
 * since does not void it; everything else does. Kept in memory: after a restart, people are asked again.
 */
export class WorkspaceStates {
  readonly #steps = new Map<string, Step[]>();
  readonly #known = new Map<string, KnownState>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `read` reads the whole workspace. Unless the state must be `fresh`, it may be a second old. */
  async current(agent: string, read: () => Promise<WholeState>, {fresh = false} = {}): Promise<WholeState> {
    const known = this.#known.get(agent);
    if (known && !fresh && this.#clock.monotonic() - known.at < KNOWN_MS) return known.state;
    const state = await read();
    this.#known.set(agent, {state, at: this.#clock.monotonic()});
    return state;
  }

  /** The workspace may have changed: read it again when it is needed. */
  forget(agent: string): void {
    this.#known.delete(agent);
  }

  /** Nothing but this approved call may have changed the workspace between the two states. */
  record(agent: string, before: string, after: string): void {
    if (before === after) return;
    const steps = this.#steps.get(agent) ?? [];
    steps.push({before, after});
    if (steps.length > MOST_STEPS) steps.shift();
    this.#steps.set(agent, steps);
  }

  /** The states, latest first, from which only approved calls led to this one. */
  earlier(agent: string, current: string): string[] {
    const found: string[] = [];
    let state = current;
    for (const {before, after} of (this.#steps.get(agent) ?? []).toReversed()) {
      if (after !== state) continue;
      found.push(before);
      state = before;
    }
    return found;
  }
}
