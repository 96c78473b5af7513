import {type Definition, indexIn, type Whole, wholeOf} from './look.ts';

const NONE: readonly Definition[] = [];

interface Change {
  /** `who`: another file defines it now, or one does no more. `what`: something else that others may look at. */
  changed: 'who' | 'what' | 'nothing';
  /** The definition that counts, if it is another object now. */
  first: {before: Definition | undefined; after: Definition | undefined} | undefined;
}

/** Who defines which name: the names of a home, each with its definitions in the order of their paths. */
export class Definitions {
  readonly #byName = new Map<string, Definition[]>();
  readonly #wholes = {agent: new Set<string>(), task: new Set<string>()};
  /** Ids of a whole in order, until it changes. */
  readonly #ordered = new Map<Whole, readonly string[]>();

  named(name: string): readonly Definition[] {
    return this.#byName.get(name) ?? NONE;
  }

  /** In the order of the first path of each; none if there are more than `most`. */
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

  /** What the file at `path` says of a name; undefined: nothing any more. */
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

/** Where it stands is told only where a name is doubled. What it waits for is the business of circles. */
function differ(a: Definition | undefined, b: Definition | undefined, doubled: boolean): boolean {
  return a?.state !== b?.state || (doubled && a?.line !== b?.line);
}
