import type {Definition} from './look.ts';
import {isOpenState} from './task-facts.ts';

/** A dependency cycle. It starts with the task that comes first by path and line. */
interface Circle {
  path: string;
  ids: readonly string[];
}

/** A strongly connected component: tasks that wait for each other, directly or indirectly. */
interface Knot {
  members: readonly string[];
  circles: readonly Circle[];
}

/** Limits the report: a hostile component has millions of cycles. */
const MAX_CIRCLES = 100;

/**
 * Finds open tasks that wait for each other, across all files. The cost of a change depends on the tasks reachable from
 * it. No recursion: chains may be thousands long.
 */
export class TaskCircles {
  readonly #first: (id: string) => Definition | undefined;
  readonly #touched = new Set<string>();
  readonly #knotOf = new Map<string, Knot>();
  readonly #at = new Map<string, Set<Knot>>();

  /** `first` returns the effective definition of an id. */
  constructor(first: (id: string) => Definition | undefined) {
    this.#first = first;
  }

  /** Call when the effective definition of a task has changed. */
  changed(id: string, before: Definition | undefined, after: Definition | undefined): void {
    // The line matters only for the order within a cycle.
    if (this.#knotOf.has(id) || !sameEdges(before, after)) this.#touched.add(id);
  }

  /** The cycles to report in a file. */
  at(path: string): readonly (readonly string[])[] {
    return [...(this.#at.get(path) ?? [])].flatMap(knot =>
      knot.circles.filter(circle => circle.path === path).map(circle => circle.ids),
    );
  }

  /** Process the changes. Returns the paths whose cycles may have changed. */
  settle(): Set<string> {
    const paths = new Set<string>();
    const roots = new Set(this.#touched);
    for (const id of this.#touched) for (const member of this.#untie(id, paths)) roots.add(member);
    this.#touched.clear();
    for (const members of this.#knots(roots)) {
      for (const id of members) this.#untie(id, paths);
      const knot = this.#tie(members);
      for (const id of members) this.#knotOf.set(id, knot);
      for (const {path} of knot.circles) {
        paths.add(path);
        const knots = this.#at.get(path);
        if (knots) knots.add(knot);
        else this.#at.set(path, new Set([knot]));
      }
    }
    return paths;
  }

  /** Forget the component of a task. Returns its members. */
  #untie(id: string, paths: Set<string>): readonly string[] {
    const knot = this.#knotOf.get(id);
    if (!knot) return [];
    for (const member of knot.members) this.#knotOf.delete(member);
    for (const {path} of knot.circles) {
      paths.add(path);
      const knots = this.#at.get(path);
      knots?.delete(knot);
      if (knots?.size === 0) this.#at.delete(path);
    }
    return knot.members;
  }

  #waitsFor(id: string): readonly string[] {
    return this.#first(id)?.waitsFor ?? [];
  }

  #isOpen(id: string): boolean {
    return isOpenState(this.#first(id)?.state ?? null);
  }

  /** Tarjan's strongly connected components of more than one task, or of one that waits for itself. */
  *#knots(roots: Iterable<string>): Generator<string[]> {
    const number = new Map<string, number>();
    const low = new Map<string, number>();
    const pending: string[] = [];
    const isPending = new Set<string>();
    for (const root of roots) {
      if (number.has(root) || !this.#isOpen(root)) continue;
      const trail: {id: string; next: readonly string[]; at: number}[] = [];
      const enter = (id: string) => {
        low.set(id, number.size);
        number.set(id, number.size);
        pending.push(id);
        isPending.add(id);
        trail.push({id, next: this.#waitsFor(id), at: 0});
      };
      const reach = (id: string, other: number) => low.set(id, Math.min(low.get(id) ?? other, other));
      enter(root);
      for (let top = trail.at(-1); top; top = trail.at(-1)) {
        const next = top.next[top.at++];
        if (next !== undefined) {
          if (isPending.has(next)) reach(top.id, number.get(next) ?? 0);
          else if (!number.has(next) && this.#isOpen(next)) enter(next);
          continue;
        }
        trail.pop();
        const above = trail.at(-1);
        if (above) reach(above.id, low.get(top.id) ?? 0);
        if (low.get(top.id) !== number.get(top.id)) continue;
        const members = pending.splice(pending.lastIndexOf(top.id));
        for (const id of members) isPending.delete(id);
        if (members.length > 1 || top.next.includes(top.id)) yield members;
      }
    }
  }

  /** The cycles of a component: one for each back edge that a walk from its first task finds. */
  #tie(members: readonly string[]): Knot {
    const ordered = [...members].sort((a, b) => this.#order(a, b));
    const rank = new Map(ordered.map((id, i) => [id, i]));
    const depth = new Map<string, number>();
    const done = new Set<string>();
    const circles: Circle[] = [];
    const trail: {id: string; at: number}[] = [];
    const enter = (id: string) => {
      depth.set(id, trail.length);
      trail.push({id, at: 0});
    };
    enter(ordered[0] ?? '');
    for (let top = trail.at(-1); top && circles.length < MAX_CIRCLES; top = trail.at(-1)) {
      const next = this.#waitsFor(top.id)[top.at++];
      if (next === undefined) {
        trail.pop();
        depth.delete(top.id);
        done.add(top.id);
      } else if (depth.has(next))
        circles.push(
          this.#circle(
            trail.slice(depth.get(next)).map(step => step.id),
            rank,
          ),
        );
      else if (rank.has(next) && !done.has(next)) enter(next);
    }
    return {members, circles};
  }

  #circle(ids: readonly string[], rank: ReadonlyMap<string, number>): Circle {
    let start = 0;
    for (const [i, id] of ids.entries()) if ((rank.get(id) ?? 0) < (rank.get(ids[start] ?? '') ?? 0)) start = i;
    const rotated = [...ids.slice(start), ...ids.slice(0, start)];
    return {path: this.#first(rotated[0] ?? '')?.path ?? '', ids: rotated};
  }

  #order(a: string, b: string): number {
    const [one, other] = [this.#first(a), this.#first(b)];
    if (!one || !other) return 0;
    if (one.path !== other.path) return one.path < other.path ? -1 : 1;
    return one.line - other.line;
  }
}

/** Whether path, openness and dependencies are equal. */
function sameEdges(a: Definition | undefined, b: Definition | undefined): boolean {
  if (a?.path !== b?.path || isOpenState(a?.state ?? null) !== isOpenState(b?.state ?? null)) return false;
  const [before, after] = [a?.waitsFor ?? [], b?.waitsFor ?? []];
  return before === after || (before.length === after.length && before.every((id, i) => id === after[i]));
}
