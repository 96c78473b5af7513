import type {Facts} from './facts.ts';
import {isOpenState} from './task-facts.ts';

/** A name that the file at `path` defines, as other files see it. */
export interface Definition {
  path: string;
  line: number;
  /**
   * State of a task, decision of an approval page, or state of a request. For a session: `id` if its header has the id, not
   * just its file name. For an agent: what sessions copy from its template.
   */
  state: string | null;
  /** Ids of tasks that an open task depends on. */
  waitsFor: readonly string[];
}

/** Kinds of names that can be listed completely. */
export type Whole = 'agent' | 'task';

/**
 * How a check of one file sees the others. Every lookup is remembered: when its result changes, this file is checked
 * again.
 */
export interface Look {
  /** All definitions of a name such as `task/redis-check`, sorted by path. */
  named(name: string): readonly Definition[];
  /** All ids of agents or tasks, sorted by the path of their first definition; none if there are more than `most`. */
  all(whole: Whole, most?: number): readonly string[];
  /** Dependency cycles to report in this file. Each starts with the task to report it at. */
  circles(): readonly (readonly string[])[];
}

const NONE: readonly string[] = [];

/** The definitions in a file, by name; the first one of a duplicate name. */
export function definitionsIn(path: string, facts: Facts): (readonly [name: string, definition: Definition])[] {
  const {session, defines, tasks, approvals, copySource} = facts;
  const sessionName = session && !session.segment ? `session/${session.id}` : undefined;
  const defined = defines.map((name): readonly [string, Definition] => {
    const state = name === sessionName ? 'id' : (facts.page?.decision ?? copySource ?? null);
    return [name, {path, line: 1, state, waitsFor: NONE}];
  });
  if (!tasks && !approvals && defined.length < 2) return defined;
  const found = new Map(defined);
  for (const [id, state] of Object.entries(approvals ?? {}))
    found.set(`item/${id}`, {path, line: 1, state, waitsFor: NONE});
  for (const {id, line, state, waitsFor} of tasks ?? []) {
    const name = `task/${id}`;
    if (id !== undefined && !found.has(name))
      found.set(name, {path, line, state, waitsFor: isOpenState(state) ? (waitsFor ?? NONE) : NONE});
  }
  return [...found];
}

/** The kind of a name, if names of its kind can be listed. */
export function wholeOf(name: string): Whole | undefined {
  return name.startsWith('agent/') ? 'agent' : name.startsWith('task/') ? 'task' : undefined;
}

/** The index of `path` in sorted definitions, or where it would be inserted. */
export function indexIn(definitions: readonly Definition[], path: string): number {
  let low = 0;
  let high = definitions.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((definitions[mid]?.path ?? '') < path) low = mid + 1;
    else high = mid;
  }
  return low;
}
