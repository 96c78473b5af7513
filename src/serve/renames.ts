import {type BigIntStats, statSync} from 'node:fs';
import {join} from 'node:path';
import {setImmediate as turn} from 'node:timers/promises';
import type {WatchEvent} from '../store/watch.ts';

/**
 * Files that somebody put in place by renaming another file, as most editors save: complete at once. A file that is created and
 * written in place looks the same to `stat`, but Linux tells of the writes. So a file counts as renamed if its name came, and no
 * write to that name was told of since. Elsewhere the watch does not tell the two apart, and no file counts.
 */
export class Renames {
  readonly #home: string;
  /** Paths whose name came, with no write told of since. */
  readonly #came = new Set<string>();

  constructor(home: string) {
    this.#home = home;
  }

  noted(path: string, event: WatchEvent): void {
    if (event === 'rename' && process.platform === 'linux') this.#came.add(path);
    else this.#came.delete(path);
  }

  /** Events were lost. */
  forgetAll(): void {
    this.#came.clear();
  }

  /** Whether the file that was read with this stat came by a rename. `inode`: of the file that was known at this path. */
  async has(path: string, read: BigIntStats, inode: string | undefined): Promise<boolean> {
    if (!this.#came.has(path) || read.nlink !== 1n || `${read.ino}` === inode) return false;
    // The writes that put there what was read are told of in the next round of the event loop, but for one that is still under way.
    await turn();
    await turn();
    const now = statSync(join(this.#home, path), {bigint: true, throwIfNoEntry: false});
    return this.#came.has(path) && now?.ino === read.ino && now.size === read.size && now.mtimeNs === read.mtimeNs;
  }
}
