import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {dirname} from 'node:path';
import {inflateSync} from 'node:zlib';
import {crashPoint} from '../disk/crash.ts';
import {blobId} from './blob-id.ts';
import {deflate} from './git-deflate.ts';

export type ObjectFormat = 'sha1' | 'sha256';
export type ObjectType = 'blob' | 'tree' | 'commit';

export function objectId(format: ObjectFormat, type: ObjectType, body: Buffer): string {
  if (type === 'blob' && format === 'sha1') return blobId(body);
  return createHash(format).update(`${type} ${body.length}\0`).update(body).digest('hex');
}

/** How many ids of recently written objects are remembered, so that they are not written again. */
const REMEMBERED = 20_000;

/** Loose objects, written as git does: compressed to a temporary file, renamed into place, not synced. */
export class Objects {
  readonly dir: string;
  readonly #format: ObjectFormat;
  #written = new Set<string>();
  #count = 0;

  constructor(dir: string, format: ObjectFormat) {
    this.dir = dir;
    this.#format = format;
  }

  id(type: ObjectType, body: Buffer): string {
    return objectId(this.#format, type, body);
  }

  /** Write an object atomically and return its id. Throws errors of the file system. */
  write(type: ObjectType, body: Buffer): string {
    const header = Buffer.from(`${type} ${body.length}\0`, 'latin1');
    const id = this.id(type, body);
    if (!this.#written.has(id)) this.#place(id, header, body);
    return id;
  }

  /** Whether the object exists as a loose object now. */
  isLoose(id: string): boolean {
    return existsSync(`${this.dir}/${id.slice(0, 2)}/${id.slice(2)}`);
  }

  /** Write an object even if it was written before: somebody may have pruned it. */
  writeAnew(type: ObjectType, body: Buffer): void {
    this.#written.delete(this.id(type, body));
    this.write(type, body);
  }

  #place(id: string, header: Buffer, body: Buffer): void {
    // Git's name for temporary files: git prune removes them after a crash. Creating files in one folder and moving them costs a sixth of
    // creating them in 256 folders. Replacing an existing object renews its mtime, which protects it from a prune.
    const temporary = `${this.dir}/tmp_obj_${process.pid}_${this.#count++}`;
    const path = `${this.dir}/${id.slice(0, 2)}/${id.slice(2)}`;
    try {
      writeFileSync(temporary, deflate(Buffer.concat([header, body])), {
        flag: 'wx',
        mode: 0o444,
      });
      crashPoint('journal-object');
      move(temporary, path);
    } catch (error) {
      rmSync(temporary, {force: true});
      throw error;
    }
    this.remember([id]);
  }

  /** The body of a loose object. Undefined: no such loose object. */
  read(id: string): Buffer | undefined {
    let packed: Buffer;
    try {
      packed = readFileSync(`${this.dir}/${id.slice(0, 2)}/${id.slice(2)}`);
    } catch {
      return undefined;
    }
    const whole = inflateSync(packed);
    return whole.subarray(whole.indexOf(0) + 1);
  }

  /** Whether this process wrote the object recently. */
  isWritten(id: string): boolean {
    return this.#written.has(id);
  }

  remember(ids: Iterable<string>): void {
    if (this.#written.size >= REMEMBERED) this.#written.clear();
    for (const id of ids) this.#written.add(id);
  }

  /** Forget which objects were written, because somebody may have pruned them. */
  forget(): void {
    this.#written.clear();
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
