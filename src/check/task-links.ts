import type {Facts} from './facts.ts';
import {isOpenState} from './task-facts.ts';

/** The template for agents that are requested by model. */
export const GENERAL = 'general-purpose';

const NONE: ReadonlySet<string> = new Set();

/**
 * Which files have tasks that depend on a task, are parts of a task, or are assigned to an agent. These files are looked
 * at again when that task or agent changes.
 */
export class TaskLinks {
  readonly #paths = new Map<string, Set<string>>();

  /** Replace the facts of a file. */
  set(path: string, before: Facts | undefined, after: Facts | undefined): void {
    const names = namesIn(after);
    for (const name of namesIn(before)) {
      const paths = names.has(name) ? undefined : this.#paths.get(name);
      paths?.delete(path);
      if (paths?.size === 0) this.#paths.delete(name);
    }
    for (const name of names) {
      const paths = this.#paths.get(name);
      if (paths) paths.add(path);
      else this.#paths.set(name, new Set([path]));
    }
  }

  /** Files with open tasks that depend on this task. */
  waitingFor(id: string): ReadonlySet<string> {
    return this.#paths.get(`waits/${id}`) ?? NONE;
  }

  /** Files with parts of this task, open or closed. */
  partsOf(id: string): ReadonlySet<string> {
    return this.#paths.get(`part/${id}`) ?? NONE;
  }

  /** Files with open tasks that were created in this session. */
  createdIn(session: string): ReadonlySet<string> {
    return this.#paths.get(`in/${session}`) ?? NONE;
  }

  /** Files with open tasks for this agent. */
  of(agent: string): ReadonlySet<string> {
    return this.#paths.get(`of/${agent}`) ?? NONE;
  }
}

function namesIn(facts: Facts | undefined): Set<string> {
  const names = new Set<string>();
  for (const {state, waitsFor, parent, nested, names: persons, assign, createdIn} of facts?.tasks ?? []) {
    const whole = parent ?? nested;
    if (whole !== undefined) names.add(`part/${whole}`);
    if (!isOpenState(state)) continue;
    for (const id of waitsFor ?? []) names.add(`waits/${id}`);
    if (createdIn !== undefined) names.add(`in/${createdIn}`);
    const who = newAgent(assign) ?? persons?.[0];
    if (who !== undefined) names.add(`of/${who}`);
  }
  return names;
}

/** The template of a new agent; `new:provider/model` uses the general template. */
function newAgent(assign: string | undefined): string | undefined {
  const [, what] = /^new:(\S+)$/.exec(assign ?? '') ?? [];
  return what?.includes('/') ? GENERAL : what;
}
