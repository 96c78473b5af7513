import {createHash} from 'node:crypto';

/** Computed ids. Hashed buffers must not change afterwards. */
const ids = new WeakMap<Buffer, string>();

/** The sha1 blob id of these bytes. Do not change the buffer afterwards: the id is cached. */
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
