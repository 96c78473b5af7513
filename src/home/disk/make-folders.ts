import {existsSync, mkdirSync} from 'node:fs';
import {dirname} from 'node:path';

/** Make a folder and its missing parents. Returns whether any was made. */
export function makeFolders(path: string): boolean {
  try {
    return mkdirSync(path, {recursive: true}) !== undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // Node says so too if the file system is read-only. Making the first missing folder tells the reason.
    mkdirSync(firstMissing(path));
    return makeFolders(path);
  }
}

function firstMissing(path: string): string {
  const parent = dirname(path);
  return parent === path || existsSync(parent) ? path : firstMissing(parent);
}
