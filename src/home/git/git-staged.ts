import {deflate, deltaOf} from './git-deflate.ts';
import type {Objects, ObjectType} from './git-objects.ts';
import {type PackEntry, packEntry, writePack} from './git-pack.ts';

/** From this many objects on, one pack is cheaper than loose objects, which cost a file each. */
const PACKED_FROM = 64;
/** From this size on, a blob is written as a delta from its previous version, which needs a pack. */
const LARGE = 16 * 1024;
/** The longest delta chain, as in git: a longer one is slow to read. */
const DEPTH = 50;

interface StagedObject {
  type: ObjectType;
  body: Buffer;
  depth: number;
  entry: PackEntry | undefined;
}

/** Objects of a batch, kept in memory until `flush`, so that a discarded batch writes nothing. */
export class StagedObjects {
  readonly #objects: Objects;
  readonly #staged = new Map<string, StagedObject>();
  /** Blobs written earlier that nothing may refer to yet. */
  readonly #relied = new Map<string, Buffer>();
  bytes = 0;
  /** Whether they go into one pack. */
  #pack = false;

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** `before`: the id of a similar object. */
  write(type: ObjectType, body: Buffer, before = ''): string {
    const id = this.#objects.id(type, body);
    if (this.#staged.has(id)) return id;
    if (this.#objects.isWritten(id)) {
      if (type === 'blob') this.#relied.set(id, body);
      return id;
    }
    // Callers change trees in place.
    const own = type === 'tree' ? Buffer.from(body) : body;
    const base = this.#staged.get(before);
    const near = base && base.type === type && base.depth < DEPTH ? base : undefined;
    const object: StagedObject = {type, body: own, depth: near ? near.depth + 1 : 0, entry: undefined};
    // Compress here rather than all at once in `flush`.
    if (this.#staged.size >= PACKED_FROM || (near && type === 'blob' && body.length >= LARGE)) {
      object.entry = packed(id, object, near && {id: before, body: near.body});
      this.#pack = true;
    } else object.depth = 0;
    this.#staged.set(id, object);
    this.bytes += body.length;
    return id;
  }

  /** Write all objects. Throws errors of the file system. */
  async flush(): Promise<void> {
    // Somebody may have pruned these blobs meanwhile.
    for (const [id, body] of this.#relied) if (!this.#objects.isLoose(id)) this.#objects.writeAnew('blob', body);
    this.#relied.clear();
    if (this.#pack) {
      const entries = [...this.#staged].map(([id, object]) => object.entry ?? packed(id, object, undefined));
      await writePack(this.#objects.dir, entries);
      this.#objects.remember(this.#staged.keys());
    } else for (const {type, body} of this.#staged.values()) this.#objects.write(type, body);
    this.#staged.clear();
    this.#pack = false;
  }
}

function packed(id: string, {type, body}: StagedObject, base: {id: string; body: Buffer} | undefined): PackEntry {
  const delta = base && deltaOf(base.body, body);
  if (!base || !delta || delta.length > body.length / 2) return packEntry(id, type, body.length, deflate(body));
  return packEntry(id, 'delta', delta.length, deflate(delta), base.id);
}
