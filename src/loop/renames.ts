import type {Disk, FileStat, WatchEvent} from '../home/disk/disk.ts';

/**
 * Files that somebody put in place by renaming another file, as most editors save: complete at once. A file that is created and
 * written in place looks the same to `stat`, but Linux tells of the writes. So a file counts as renamed if its name came, and no
 * write to that name was told of since. Elsewhere the watch does not tell the two apart, and no file counts.
 */
export class Renames {
  readonly #disk: Disk;
  /** Paths whose name came, with no write told of since. */
  readonly #came = new Set<string>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  noteEvent(path: string, event: WatchEvent): void {
    if (event === 'rename' && process.platform === 'linux') this.#came.add(path);
    else this.#came.delete(path);
  }

  /** Events were lost. */
  forgetAll(): void {
    this.#came.clear();
  }

  /** Whether the file that was read with this stat came by a rename. `inode`: of the file that was known at this path. */
  async has(path: string, read: FileStat, inode: string | undefined): Promise<boolean> {
    if (!this.#came.has(path) || read.nlink !== 1n || `${read.ino}` === inode) return false;
    // The writes that put there what was read are told of in the next round of the event loop, but for one that is still under way.
    await this.#disk.clock.nextTurn();
    await this.#disk.clock.nextTurn();
    const now = this.#disk.stat(path);
    return this.#came.has(path) && now?.ino === read.ino && now.size === read.size && now.mtimeNs === read.mtimeNs;
  }
}
