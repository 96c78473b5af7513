import {type FSWatcher, readdirSync, watch} from 'node:fs';
import {join} from 'node:path';
import {folders} from '../files/key.ts';

/** A watch on the directories of a home. It only hints: whatever it misses, the next scan finds. */
export interface HomeWatch {
  /** Watch this directory too, but not those below it. At first only the home itself is watched. */
  cover: (directory: string) => void;
  /** Why some directories are not watched, if so. */
  readonly trouble: string | undefined;
  close: () => void;
}

/** As Node has it: a name came or went, or what it names was written to. */
export type WatchEvent = 'rename' | 'change';

/**
 * Call `hint` with the path, relative to the home, of what may have changed; undefined where that is not known.
 * One watch a directory, not a file: it sees the second of two writes that follow each other, is ready in a tenth of
 * the time, and needs a hundredth of the watches (docs/decisions/0007).
 */
export function watchHome(home: string, hint: (path: string | undefined, event: WatchEvent) => void): HomeWatch {
  const watchers = new Map<string, FSWatcher>();
  let trouble: string | undefined;

  const drop = (directory: string) => {
    watchers.get(directory)?.close();
    watchers.delete(directory);
  };
  const watchOne = (directory: string): boolean => {
    if (watchers.has(directory)) return true;
    try {
      const watcher = watch(join(home, directory), {persistent: false}, (event, name) => {
        if (name === null) return hint(undefined, event);
        const path = directory === '' ? name : `${directory}/${name}`;
        // A new directory may hold files that were there before anybody watched it: look at all of it.
        if (watchers.has(path) || (isFolder(path) && !/\.\w+$/.test(name))) {
          drop(path);
          cover(path);
        }
        hint(path, event);
      });
      watcher.on('error', () => drop(directory));
      watchers.set(directory, watcher);
      trouble = undefined;
      return true;
    } catch (error) {
      const {code} = error as NodeJS.ErrnoException;
      if (code === 'ENOSPC' || code === 'EMFILE')
        trouble = `the system gives no more file watches (${code}): changes are seen by scanning only; raise fs.inotify.max_user_watches`;
      return false;
    }
  };
  const cover = (directory: string): void => {
    if (!watchOne(directory) || directory === '') return;
    try {
      for (const entry of readdirSync(join(home, directory), {withFileTypes: true}))
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

/** A folder of the home, or one below it. */
function isFolder(path: string): boolean {
  return folders.some(folder => path === folder || path.startsWith(`${folder}/`));
}
