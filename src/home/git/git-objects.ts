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

/** Ids of what was written lately, so that writing it again costs nothing. */
const REMEMBERED = 20_000;

/** Loose objects, written as git writes them: compressed to a temporary file, renamed into place, not synced. */
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

  /** Throws what the file system throws; an object is there whole or not at all. */
  write(type: ObjectType, body: Buffer): string {
    const header = Buffer.from(`${type} ${body.length}\0`, 'latin1');
    const id = this.id(type, body);
    if (!this.#written.has(id)) this.#place(id, header, body);
    return id;
  }

  /** Whether a file of its own holds it now. */
  isLoose(id: string): boolean {
    return existsSync(`${this.dir}/${id.slice(0, 2)}/${id.slice(2)}`);
  }

  writeAnew(type: ObjectType, body: Buffer): void {
    this.#written.delete(this.id(type, body));
    this.write(type, body);
  }

  #place(id: string, header: Buffer, body: Buffer): void {
    // Git's own name for it: git prune removes what a crash leaves. Files made in one folder and moved from there cost a
    // sixth of those made in 256. One that was there is replaced by its equal, and so no prune takes it for forgotten.
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

  /** The body of a loose object; undefined if there is none of that id. */
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

  /** Whether it was written lately; no answer for what is older. */
  isWritten(id: string): boolean {
    return this.#written.has(id);
  }

  remember(ids: Iterable<string>): void {
    if (this.#written.size >= REMEMBERED) this.#written.clear();
    for (const id of ids) this.#written.add(id);
  }

  /** Somebody may have pruned: look at the disk again before relying on what was written. */
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
