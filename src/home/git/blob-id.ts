import {createHash} from 'node:crypto';

/** Ids that were worked out before. Whatever is hashed here is never changed afterwards. */
const ids = new WeakMap<Buffer, string>();

/** Git's name for these bytes, which must not be changed any more. */
export function blobId(bytes: Buffer): string {
  let id = ids.get(bytes);
  if (id === undefined) {
    const sum = createHash('sha1');
    sum.update(`blob ${bytes.length}\0`, 'latin1');
    id = sum.update(bytes).digest('hex');
    ids.set(bytes, id);
  }
  return id;
}
