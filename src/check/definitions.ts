import {type Definition, indexIn, type Whole, wholeOf} from './look.ts';

const NONE: readonly Definition[] = [];

interface Change {
  /** `who`: the set of defining files has changed. `what`: something else that other files may look at. */
  changed: 'who' | 'what' | 'nothing';
  /** The effective definition, if it has changed. */
  first: {before: Definition | undefined; after: Definition | undefined} | undefined;
}

/** All names of a home, each with its definitions sorted by path. */
export class Definitions {
  readonly #byName = new Map<string, Definition[]>();
  readonly #wholes = {agent: new Set<string>(), task: new Set<string>()};
  /** Cache of sorted ids, cleared on changes. */
  readonly #ordered = new Map<Whole, readonly string[]>();

  named(name: string): readonly Definition[] {
    return this.#byName.get(name) ?? NONE;
  }

  /** All ids, sorted by the path of their first definition; none if there are more than `most`. */
  all(whole: Whole, most = Number.POSITIVE_INFINITY): readonly string[] {
    const ids = this.#wholes[whole];
    if (ids.size > most) return [];
    const known = this.#ordered.get(whole);
    if (known) return known;
    const first = (id: string) => this.named(`${whole}/${id}`)[0]?.path ?? '';
    const ordered = [...ids]
      .map(id => ({id, path: first(id)}))
      .sort((a, b) => (a.path === b.path ? (a.id < b.id ? -1 : 1) : a.path < b.path ? -1 : 1))
      .map(({id}) => id);
    this.#ordered.set(whole, ordered);
    return ordered;
  }

  /** Set the definition of a name in the file at `path`; undefined removes it. */
  set(name: string, path: string, definition: Definition | undefined): Change {
    const list = this.#byName.get(name) ?? [];
    const [before] = list;
    const at = indexIn(list, path);
    const former = list[at]?.path === path ? list[at] : undefined;
    if (definition) {
      list.splice(at, former ? 1 : 0, definition);
      if (list.length === 1) this.#byName.set(name, list);
    } else if (former) {
      list.splice(at, 1);
      if (list.length === 0) this.#byName.delete(name);
    }
    const [after] = list;
    const who = !former !== !definition;
    if (who) this.#regroup(name, list.length > 0);
    return {
      changed: who ? 'who' : differ(former, definition, list.length > 1) ? 'what' : 'nothing',
      first: before === after ? undefined : {before, after},
    };
  }

  #regroup(name: string, exists: boolean): void {
    const whole = wholeOf(name);
    if (!whole) return;
    this.#ordered.delete(whole);
    const id = name.slice(whole.length + 1);
    if (exists) this.#wholes[whole].add(id);
    else this.#wholes[whole].delete(id);
  }
}

/** Messages show the line only for duplicate names. Dependencies are handled by `TaskCircles`. */
function differ(a: Definition | undefined, b: Definition | undefined, isDuplicate: boolean): boolean {
  return a?.state !== b?.state || (isDuplicate && a?.line !== b?.line);
}
