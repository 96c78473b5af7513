import {crashPoint} from './disk/crash.ts';
import type {Disk} from './disk/disk.ts';
import {linkReplaced, type ReplacedFile} from './replaced-files.ts';
import {type SaveResult, save} from './save.ts';
import {temporaryBeside} from './temporary.ts';

interface Moving {
  from: string;
  expected: Buffer;
  to: string;
  bytes: Buffer;
}

/**
 * Put `bytes` at `to`, where there is no file yet, and take `from` away if it is still what the decision was made on. Killed
 * in between, both are there; what was saved at `from` meanwhile stays. The old file stays linked: an editor may still write into it.
 */
export async function moveFile(disk: Disk, {from, expected, to, bytes}: Moving): Promise<SaveResult> {
  const saved = await save(disk, {path: to, expected: undefined, bytes});
  if (!('saved' in saved)) return saved;
  crashPoint('move');
  const replaced = keepMoved(disk, {from, expected, to, bytes});
  if (removeIfUnchanged(disk, from, expected)) return {...saved, replaced};
  replaced?.forget();
  return saved;
}

function keepMoved(disk: Disk, {from, expected, to, bytes}: Moving): ReplacedFile | undefined {
  try {
    return linkReplaced({disk, path: to, target: from, temp: temporaryBeside(disk, to), expected, bytes});
  } catch (error) {
    // Somebody took it away just now.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Take a file away if it is what is expected; false: it is not, and stays. What an editor saved at the last moment is found
 * by a second look, at what was taken. Killed before that, a temporary file is left, which the next start removes.
 */
export function removeIfUnchanged(disk: Disk, path: string, expected: Buffer): boolean {
  const taken = temporaryBeside(disk, path);
  try {
    if (!disk.read(path).equals(expected)) return false;
    disk.rename(path, taken);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
  crashPoint('remove');
  const same = disk.read(taken).equals(expected);
  if (!same) putBack(disk, taken, path);
  disk.unlink(taken);
  crashPoint('remove');
  return same;
}

/** Unless something newer is there by now. */
function putBack(disk: Disk, taken: string, target: string): void {
  try {
    disk.link(taken, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
