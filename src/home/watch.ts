import {folders} from '../formats/common/key.ts';
import type {DirectoryWatch, Disk, WatchEvent} from './disk/disk.ts';

/** A watch on the directories of a home. May miss events: the next scan finds the changes. */
export interface HomeWatch {
  /** Also watch this directory, without its subdirectories. Initially only the home itself is watched. */
  cover: (directory: string) => void;
  /** Why some directories are not watched. */
  readonly trouble: string | undefined;
  close: () => void;
}

/**
 * Call `hint` with the path, relative to the home, that may have changed. Undefined: unknown. Watches directories, not files: that
 * reports the second of two quick writes, starts in a tenth of the time and needs a hundredth of the watches (docs/decisions/0007).
 */
export function watchHome(disk: Disk, hint: (path: string | undefined, event: WatchEvent) => void): HomeWatch {
  const watchers = new Map<string, DirectoryWatch>();
  let trouble: string | undefined;

  const drop = (directory: string) => {
    watchers.get(directory)?.close();
    watchers.delete(directory);
  };
  const watchOne = (directory: string): boolean => {
    if (watchers.has(directory)) return true;
    try {
      const onEvent = (name: string | null, event: WatchEvent) => {
        if (name === null) return hint(undefined, event);
        const path = directory === '' ? name : `${directory}/${name}`;
        // A new directory may contain files older than its watch: watch it and let the scan read it.
        if (watchers.has(path) || (isFolder(path) && !/\.\w+$/.test(name))) {
          drop(path);
          cover(path);
        }
        hint(path, event);
      };
      watchers.set(
        directory,
        disk.watch(directory, onEvent, () => drop(directory)),
      );
      trouble = undefined;
      return true;
    } catch (error) {
      const {code} = error as NodeJS.ErrnoException;
      if (code === 'ENOSPC' || code === 'EMFILE')
        trouble = `no more file watches are available (${code}), so changes are found by scanning; raise fs.inotify.max_user_watches`;
      return false;
    }
  };
  const cover = (directory: string): void => {
    if (!watchOne(directory) || directory === '') return;
    try {
      for (const entry of disk.list(directory))
        if (entry.isDirectory() && !entry.name.startsWith('.')) cover(`${directory}/${entry.name}`);
    } catch {
      drop(directory);
    }
  };

  watchOne('');
  return {
    cover: directory => {
      watchOne(directory);
    },
    get trouble() {
      return trouble;
    },
    close: () => {
      for (const directory of [...watchers.keys()]) drop(directory);
    },
  };
}

/** Whether the path is a known folder of the home, or below one. */
function isFolder(path: string): boolean {
  return folders.some(folder => path === folder || path.startsWith(`${folder}/`));
}
