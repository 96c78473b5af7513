import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {dirname} from 'node:path';
import {deflateSync, inflateSync} from 'node:zlib';
import {crashPoint} from '../crash.ts';
import {blobId} from './blob-id.ts';

export type ObjectFormat = 'sha1' | 'sha256';

/** The id that git writes where there is no object. */
export function noObject(format: ObjectFormat): string {
  return '0'.repeat(format === 'sha1' ? 40 : 64);
}

/** So many ids of blobs are remembered. */
const REMEMBERED = 20_000;

/** Blobs that are written at once, as git writes loose objects: compressed, renamed into place, not synced. */
export class Blobs {
  readonly #dir: string;
  readonly #format: ObjectFormat;
  readonly #written = new Set<string>();
  #count = 0;

  /** `dir`: the folder `objects` of a repository. */
  constructor(dir: string, format: ObjectFormat) {
    this.#dir = dir;
    this.#format = format;
  }

  id(bytes: Buffer): string {
    if (this.#format === 'sha1') return blobId(bytes);
    return createHash(this.#format).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  }

  /** Throws what the file system throws; a blob is there whole or not at all. */
  write(bytes: Buffer): string {
    const id = this.id(bytes);
    if (this.#written.has(id)) return id;
    // Git's own name for such a file: git prune removes what a crash leaves. Files made in one folder and moved from
    // there cost a sixth of those made in 256. A blob that was there is replaced by its equal: no prune takes it for old.
    const temporary = `${this.#dir}/tmp_obj_${process.pid}_${this.#count++}`;
    const header = Buffer.from(`blob ${bytes.length}\0`, 'latin1');
    try {
      writeFileSync(temporary, deflateSync(Buffer.concat([header, bytes]), {level: 1}), {flag: 'wx', mode: 0o444});
      crashPoint('journal-object');
      move(temporary, this.#pathOf(id));
    } catch (error) {
      rmSync(temporary, {force: true});
      throw error;
    }
    if (this.#written.size >= REMEMBERED) this.#written.clear();
    this.#written.add(id);
    return id;
  }

  /** The bytes of a blob in a file of its own; undefined if there is none of that id. */
  read(id: string): Buffer | undefined {
    let packed: Buffer;
    try {
      packed = readFileSync(this.#pathOf(id));
    } catch {
      return undefined;
    }
    const whole = inflateSync(packed);
    return whole.subarray(whole.indexOf(0) + 1);
  }

  /** Whether it was written lately; no answer for older ones. */
  isWritten(id: string): boolean {
    return this.#written.has(id);
  }

  /** Whether it was written lately and is still there. */
  isThere(id: string): boolean {
    return this.#written.has(id) && existsSync(this.#pathOf(id));
  }

  /** Somebody may have pruned: nothing counts as written. */
  forget(): void {
    this.#written.clear();
  }

  #pathOf(id: string): string {
    return `${this.#dir}/${id.slice(0, 2)}/${id.slice(2)}`;
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    mkdirSync(dirname(to), {recursive: true});
    renameSync(from, to);
  }
}
