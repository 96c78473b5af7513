/** A call that a person approved turned one state of a workspace into another. */
interface Step {
  before: string;
  after: string;
}

const MOST_STEPS = 200;

/**
 * States of workspaces before and after approved calls, as digests. A decision is bound to the state that the person
 * saw. What other approved calls did since does not void it; everything else does. Kept in memory: after a restart,
 * people are asked again.
 */
export class WorkspaceStates {
  readonly #steps = new Map<string, Step[]>();

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
