/** A tree object with its loaded subtrees. Names are latin1 strings of their bytes. */
export interface Tree {
  id: string;
  raw: Buffer;
  /** By name: the offset of the entry in `raw`, the offset of its id, and its mode. */
  places: Map<string, {start: number; id: number; mode: string}>;
  kids: Map<string, Tree>;
  /** Names of changed subtrees that are not written yet. */
  dirty: Set<string>;
  /** Entries that were added, removed or changed their mode, and are not in `raw` yet. */
  changes: Map<string, Leaf | undefined>;
}

export interface TreeStore {
  load(id: string): Promise<Buffer>;
  /** `before`: the previous id, or ''. */
  write(raw: Buffer, before: string): string;
}

export interface Leaf {
  id: string;
  mode: string;
}

const FOLDER = '40000';
const ZERO = '0'.repeat(40);

export function emptyTree(): Tree {
  return {id: '', raw: Buffer.alloc(0), places: new Map(), kids: new Map(), dirty: new Set(), changes: new Map()};
}

/** Split a path into names as used in a `Tree`. */
export function treeNames(path: string): string[] {
  return Buffer.from(path, 'utf8').toString('latin1').split('/');
}

/** Load a tree. Reuses unchanged subtrees of `old`. */
export async function loadTree(store: TreeStore, id: string, old?: Tree): Promise<Tree> {
  if (old?.id === id) return old;
  const raw = await store.load(id);
  const tree: Tree = {id, raw, places: placesOf(raw), kids: new Map(), dirty: new Set(), changes: new Map()};
  for (const [name, kid] of old?.kids ?? []) {
    const known = idAt(tree, name);
    if (known?.mode === FOLDER) tree.kids.set(name, kid);
  }
  return tree;
}

/** Load the folders of a path, so that `setLeaf` and `leafAt` can be synchronous. */
export async function loadPath(store: TreeStore, root: Tree, names: readonly string[]): Promise<void> {
  let tree = root;
  for (const name of names.slice(0, -1)) {
    const entry = idAt(tree, name);
    if (entry?.mode !== FOLDER) return;
    const kid = await loadTree(store, entry.id, tree.kids.get(name));
    tree.kids.set(name, kid);
    tree = kid;
  }
}

export function isLoaded(root: Tree, names: readonly string[]): boolean {
  let tree = root;
  for (const name of names.slice(0, -1)) {
    if (idAt(tree, name)?.mode !== FOLDER) return true;
    const kid = kidOf(tree, name);
    if (!kid) return false;
    tree = kid;
  }
  return true;
}

/** The file at a loaded path. Undefined: no file, or a folder. */
export function leafAt(root: Tree, names: readonly string[]): Leaf | undefined {
  let tree: Tree | undefined = root;
  for (const name of names.slice(0, -1)) {
    tree = kidOf(tree, name);
    if (!tree) return undefined;
  }
  const leaf = idAt(tree, names.at(-1) ?? '');
  return leaf?.mode === FOLDER ? undefined : leaf;
}

/**
 * Change one file at a loaded path. Replaces a file where a folder must be, and a folder where a file must be. `writeTrees` writes the
 * objects.
 */
export function setLeaf(root: Tree, names: readonly string[], leaf: Leaf | undefined): void {
  if (!leaf && !leafAt(root, names)) return;
  let tree = root;
  for (const name of names.slice(0, -1)) {
    let kid = kidOf(tree, name);
    if (!kid) {
      kid = emptyTree();
      tree.kids.set(name, kid);
      setEntry(tree, name, {id: ZERO, mode: FOLDER});
    }
    tree.dirty.add(name);
    tree = kid;
  }
  const name = names.at(-1) ?? '';
  tree.kids.delete(name);
  tree.dirty.delete(name);
  setEntry(tree, name, leaf);
}

/** Write the changed trees, deepest first, and return the root's id. Removes empty folders. */
export function writeTrees(store: TreeStore, tree: Tree): string {
  for (const name of tree.dirty) {
    const kid = tree.kids.get(name);
    if (!kid) continue;
    writeTrees(store, kid);
    if (kid.places.size === 0) tree.kids.delete(name);
    setEntry(tree, name, kid.places.size === 0 ? undefined : {id: kid.id, mode: FOLDER});
  }
  tree.dirty.clear();
  settle(tree);
  tree.id = store.write(tree.raw, tree.id);
  return tree.id;
}

function kidOf(tree: Tree, name: string): Tree | undefined {
  const kid = tree.kids.get(name);
  if (!kid || tree.dirty.has(name)) return kid;
  const entry = idAt(tree, name);
  return entry?.mode === FOLDER && entry.id === kid.id ? kid : undefined;
}

function idAt(tree: Tree, name: string): Leaf | undefined {
  if (tree.changes.has(name)) return tree.changes.get(name);
  const place = tree.places.get(name);
  return place && {id: tree.raw.toString('hex', place.id, place.id + 20), mode: place.mode};
}

function setEntry(tree: Tree, name: string, leaf: Leaf | undefined): void {
  const place = tree.places.get(name);
  if (place && leaf && place.mode === leaf.mode && !tree.changes.has(name)) tree.raw.write(leaf.id, place.id, 'hex');
  else tree.changes.set(name, leaf);
}

/** Apply all `changes` of a folder to `raw` at once: there may be thousands. */
function settle(tree: Tree): void {
  if (tree.changes.size === 0) return;
  const entries: {key: string; bytes: Buffer}[] = [];
  for (const [name, {start, id, mode}] of tree.places)
    if (!tree.changes.has(name)) entries.push({key: keyOf(name, mode), bytes: tree.raw.subarray(start, id + 20)});
  for (const [name, leaf] of tree.changes) {
    if (!leaf) continue;
    const head = Buffer.from(`${leaf.mode} ${name}\0`, 'latin1');
    entries.push({key: keyOf(name, leaf.mode), bytes: Buffer.concat([head, Buffer.from(leaf.id, 'hex')])});
  }
  entries.sort((a, b) => (a.key < b.key ? -1 : 1));
  tree.raw = Buffer.concat(entries.map(({bytes}) => bytes));
  tree.places = placesOf(tree.raw);
  tree.changes.clear();
}

/** Git sorts folders as if their names ended with a slash. */
function keyOf(name: string, mode: string): string {
  return mode === FOLDER ? `${name}/` : name;
}

function placesOf(raw: Buffer): Tree['places'] {
  const places: Tree['places'] = new Map();
  for (let at = 0; at < raw.length; ) {
    const space = raw.indexOf(32, at);
    const end = raw.indexOf(0, space);
    places.set(raw.toString('latin1', space + 1, end), {
      start: at,
      id: end + 1,
      mode: raw.toString('latin1', at, space),
    });
    at = end + 21;
  }
  return places;
}
