import type {Disk, FileStat, WatchEvent} from '../home/disk/disk.ts';

/**
 * Files put in place by a rename, as most editors save: such a file is complete at once. `stat` cannot tell it from a file created and
 * written in place, but Linux reports the writes. So a file counts as renamed if the watch reported its name and no write since. Other
 * systems do not report the difference, so no file counts there.
 */
export class Renames {
  readonly #disk: Disk;
  /** Paths with a rename event and no write event since. */
  readonly #renamed = new Set<string>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  noteEvent(path: string, event: WatchEvent): void {
    if (event === 'rename' && process.platform === 'linux') this.#renamed.add(path);
    else this.#renamed.delete(path);
  }

  /** Call when events were lost. */
  forgetAll(): void {
    this.#renamed.clear();
  }

  /** Whether the file with stat `read` was put in place by a rename. `inode`: the last known inode at this path. */
  async has(path: string, read: FileStat, inode: string | undefined): Promise<boolean> {
    if (!this.#renamed.has(path) || read.nlink !== 1n || `${read.ino}` === inode) return false;
    // The watch reports finished writes within the next turns of the event loop; the stat reveals an unfinished one.
    await this.#disk.clock.nextTurn();
    await this.#disk.clock.nextTurn();
    const now = this.#disk.stat(path);
    return this.#renamed.has(path) && now?.ino === read.ino && now.size === read.size && now.mtimeNs === read.mtimeNs;
  }
}
