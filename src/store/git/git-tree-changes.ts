import type {Leaf} from './git-index-copy.ts';

interface Entry {
  /** Undefined: no file is there. */
  leaf: Leaf | undefined;
  /** Which change it was. */
  nth: number;
  /** The last change that put a file there: whatever was below it then is gone. 0: none did. */
  file: number;
}

/** Changes of files on top of a tree. A file may take a folder's place, and a folder a file's. */
export class TreeChanges {
  readonly #entries = new Map<string, Entry>();
  #count = 0;

  /** Undefined: removed. */
  set(path: string, leaf: Leaf | undefined): void {
    const nth = ++this.#count;
    this.#entries.set(path, {leaf, nth, file: leaf ? nth : this.#fileAt(path)});
    if (!leaf) return;
    for (const folder of foldersOf(path)) this.#entries.set(folder, {leaf: undefined, nth, file: this.#fileAt(folder)});
  }

  /** Whether the changes say what is there; if not, it is what the tree has. */
  has(path: string): boolean {
    return this.#entries.has(path) || foldersOf(path).some(folder => this.#fileAt(folder) > 0);
  }

  at(path: string): Leaf | undefined {
    const entry = this.#entries.get(path);
    if (!entry?.leaf || foldersOf(path).some(folder => this.#fileAt(folder) > entry.nth)) return undefined;
    return entry.leaf;
  }

  #fileAt(path: string): number {
    return this.#entries.get(path)?.file ?? 0;
  }
}

/** `a` and `a/b` of `a/b/c`. */
function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1))
    folders.push(path.slice(0, slash));
  return folders;
}
