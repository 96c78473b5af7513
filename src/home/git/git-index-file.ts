import {
  type BigIntStats,
  closeSync,
  fstatSync,
  futimesSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  writeSync,
} from 'node:fs';
import {join} from 'node:path';
import {setImmediate as turn} from 'node:timers/promises';
import {crashPoint} from '../disk/crash.ts';
import type {FileStat} from '../disk/disk.ts';
import {
  emptyGitIndex,
  entryBlob,
  entryCount,
  entryMtime,
  entryPath,
  type Index,
  type IndexChange,
  parseIndex,
  statMatches,
} from './git-index.ts';
import {patchIndex} from './git-index-patch.ts';
import {release} from './git-locks.ts';
import {objectId} from './git-objects.ts';

/** How many foreign files are compared by content before a new index is written. Git compares the rest itself. */
const COMPARED = 200;
const SLICE_MS = 8;

/** The index on disk. Read again only if another process wrote it. */
export class IndexFile {
  readonly #path: string;
  readonly #top: string;
  #stat: BigIntStats | undefined;
  #index: Index | {unsupported: string} | undefined;
  /** Names of entries whose file this process compared with its blob. */
  #own = new Set<string>();
  #adopted = false;

  constructor(gitDir: string, top: string) {
    this.#path = join(gitDir, 'index');
    this.#top = top;
  }

  read(): Index | {unsupported: string} {
    if (this.#index && this.isCurrent()) return this.#index;
    this.#own.clear();
    this.#adopted = false;
    this.#stat = undefined;
    this.#index = emptyGitIndex;
    let fd: number;
    try {
      fd = openSync(this.#path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return this.#index;
      throw error;
    }
    try {
      this.#stat = fstatSync(fd, {bigint: true});
      this.#index = parseIndex(readFileSync(fd));
    } finally {
      closeSync(fd);
    }
    return this.#index;
  }

  /** Whether the file is still the one that was read. */
  isCurrent(): boolean {
    const now = lstatSync(this.#path, {throwIfNoEntry: false, bigint: true});
    if (!now || !this.#stat) return !now && !this.#stat && this.#index !== undefined;
    return isSameFile(now, this.#stat) && now.ctimeNs === this.#stat.ctimeNs;
  }

  /** Whether another process has written the index since then. */
  isForeignSince(time: number): boolean {
    return !this.#adopted && this.#stat !== undefined && Number(this.#stat.mtimeMs) >= time;
  }

  /**
   * Write the index with these changes to `path`. Sets its mtime to `verified`, when the files were examined, so that git re-examines
   * files changed since.
   */
  async writeChanged(path: string, changes: readonly IndexChange[], verified: number): Promise<Buffer> {
    const index = this.read();
    if ('unsupported' in index) throw new Error(index.unsupported);
    const sorted = [...changes].sort((a, b) => a.name.compare(b.name));
    const bytes = patchIndex(index, sorted, await this.#racy(index, sorted));
    await turn();
    release(path);
    const fd = openSync(path, 'wx', 0o666);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
      futimesSync(fd, verified / 1000, verified / 1000);
    } finally {
      closeSync(fd);
    }
    crashPoint('journal-index-temp');
    return bytes;
  }

  /** The written bytes are the index now. Called while the lock is held. */
  adopt(bytes: Buffer, changes: readonly IndexChange[]): void {
    this.#index = parseIndex(bytes);
    this.#adopted = true;
    this.#stat = lstatSync(this.#path, {bigint: true});
    for (const {name, entry} of changes) {
      if (entry?.stat) this.#own.add(name.toString('latin1'));
      else this.#own.delete(name.toString('latin1'));
    }
  }

  /**
   * Find racily clean entries: those not older than the index itself. Git compares their content, because a change within the same second
   * does not show in the stat. A newer index would hide that, so such entries are verified or returned to be smudged, as git does.
   */
  async #racy(index: Index, changes: readonly IndexChange[]): Promise<number[]> {
    if (!this.#stat) return [];
    const since = Number(this.#stat.mtimeNs / 1_000_000_000n);
    const marked: number[] = [];
    let compared = 0;
    let pause = performance.now() + SLICE_MS;
    const changed = new Set(changes.map(({name}) => name.toString('latin1')));
    for (let i = 0, count = entryCount(index); i < count; i++) {
      if (entryMtime(index, i).seconds < since) continue;
      const name = entryPath(index, i);
      const key = name.toString('latin1');
      if (changed.has(key)) continue;
      const path = Buffer.concat([Buffer.from(`${this.#top}/`), name]);
      const stat = lstat(path);
      if (!stat || stat.isDirectory()) continue;
      const proven =
        statMatches(index, i, stat) &&
        (this.#own.has(key) || (compared++ < COMPARED && contentId(path, stat) === entryBlob(index, i)));
      if (!proven) marked.push(i);
      if (performance.now() < pause) continue;
      await turn();
      pause = performance.now() + SLICE_MS;
    }
    return marked;
  }
}

export function isSameFile(a: FileStat, b: FileStat): boolean {
  return a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

export function lstat(path: string | Buffer): BigIntStats | undefined {
  try {
    return lstatSync(path, {throwIfNoEntry: false, bigint: true});
  } catch {
    return undefined;
  }
}

const MAX_COMPARED = 4n * 1024n * 1024n;

/** The blob id of a file's content. Undefined if the file is large or cannot be read. */
export function contentId(path: string | Buffer, stat: BigIntStats): string | undefined {
  if (stat.size > MAX_COMPARED) return undefined;
  try {
    const bytes = stat.isSymbolicLink() ? readlinkSync(path, {encoding: 'buffer'}) : readFileSync(path);
    return objectId('sha1', 'blob', bytes);
  } catch {
    return undefined;
  }
}
