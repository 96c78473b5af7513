/** A node of the index's TREE extension: the cached tree object of a folder. */
interface Node {
  name: Buffer;
  /** Undefined: invalid; git must compute the tree again. */
  known: {count: string; id: Buffer} | undefined;
  kids: Map<string, Node>;
}

/** The TREE extension with all folders of these paths invalidated. Undefined if it cannot be parsed. */
export function invalidateTrees(body: Buffer, changes: readonly {name: Buffer}[]): Buffer | undefined {
  const root = read(body);
  if (!root) return undefined;
  for (const {name} of changes) {
    let node: Node | undefined = root;
    for (let from = 0; node; ) {
      node.known = undefined;
      const slash = name.indexOf(47, from);
      const part = name.toString('latin1', from, slash === -1 ? name.length : slash);
      // The path is now a file or removed, so no folder has this name.
      if (slash === -1) node.kids.delete(part);
      node = slash === -1 ? undefined : node.kids.get(part);
      from = slash + 1;
    }
  }
  const parts: Buffer[] = [];
  write(root, parts);
  return Buffer.concat(parts);
}

function read(body: Buffer): Node | undefined {
  let at = 0;
  const node = (): Node | undefined => {
    const end = body.indexOf(0, at);
    const line = body.indexOf(10, end);
    if (end === -1 || line === -1) return undefined;
    const name = body.subarray(at, end);
    const [count = '', subtrees = ''] = body.toString('latin1', end + 1, line).split(' ');
    at = line + 1;
    let known: Node['known'];
    if (!count.startsWith('-')) {
      known = {count, id: body.subarray(at, at + 20)};
      at += 20;
    }
    const kids = new Map<string, Node>();
    for (let i = Number(subtrees); i > 0; i--) {
      const kid = node();
      if (!kid) return undefined;
      kids.set(kid.name.toString('latin1'), kid);
    }
    return {name, known, kids};
  };
  const root = body.length > 0 ? node() : undefined;
  return root && at === body.length ? root : undefined;
}

function write({name, known, kids}: Node, parts: Buffer[]): void {
  parts.push(name, Buffer.from(`\0${known ? known.count : '-1'} ${kids.size}\n`, 'latin1'));
  if (known) parts.push(known.id);
  for (const kid of kids.values()) write(kid, parts);
}
