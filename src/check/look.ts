import type {Facts} from './facts.ts';
import {isOpenState} from './task-facts.ts';

/** What other files may know of something that the file at `path` defines. */
export interface Definition {
  path: string;
  line: number;
  /** Of a task its state, of an approval page its decision, of a request for more what became of it; `id` if a session has it as its id, not just as file name. */
  state: string | null;
  /** Ids of tasks that an open task depends on. */
  waitsFor: readonly string[];
}

/** Kinds of names that one can look at as a whole. */
export type Whole = 'agent' | 'task';

/**
 * How a check of one file sees the others. Whatever it looks at is remembered: when that changes, the file is checked
 * again, and no other.
 */
export interface Look {
  /** All definitions of a name such as `task/redis-check`, in the order of their paths. */
  named(name: string): readonly Definition[];
  /** Ids of all agents or tasks, in the order of the paths that define them first; none if there are more than `most`. */
  all(whole: Whole, most?: number): readonly string[];
  /** Circles of tasks that are this file's to report, each begun with the task to report it at. */
  circles(): readonly (readonly string[])[];
}

const NONE: readonly string[] = [];

/** What a file defines, by name; of a name that it has twice, the first. */
export function definitionsIn(path: string, facts: Facts): (readonly [name: string, definition: Definition])[] {
  const {session, defines, tasks, approvals} = facts;
  const sessionName = session && !session.segment ? `session/${session.id}` : undefined;
  const defined = defines.map((name): readonly [string, Definition] => {
    const state = name === sessionName ? 'id' : (facts.page?.decision ?? null);
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

/** The whole that a name belongs to, if to any. */
export function wholeOf(name: string): Whole | undefined {
  return name.startsWith('agent/') ? 'agent' : name.startsWith('task/') ? 'task' : undefined;
}

/** The place of `path` among definitions in order: its own index, or where it would go. */
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
