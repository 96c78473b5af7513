import {crashPoint} from './disk/crash.ts';
import type {Disk} from './disk/disk.ts';
import {linkReplaced, type ReplacedFile} from './replaced-files.ts';
import {type SaveResult, save} from './save.ts';
import {asideOf, temporaryBeside} from './temporary.ts';

interface Moving {
  from: string;
  expected: Buffer;
  to: string;
  bytes: Buffer;
}

/**
 * Create `to` with `bytes`, then remove `from` if it still has the expected content. If the process is killed in between, both files
 * exist. If `from` cannot be removed, `to` is removed again. The old file stays linked, because an editor may still write into it.
 */
export async function moveFile(disk: Disk, {from, expected, to, bytes}: Moving): Promise<SaveResult> {
  const saved = await save(disk, {path: to, expected: undefined, bytes});
  if (!('saved' in saved)) return saved;
  crashPoint('move');
  let replaced: ReplacedFile | undefined;
  try {
    replaced = keepMoved(disk, {from, expected, to, bytes});
    if (removeIfUnchanged(disk, from, expected)) return {...saved, replaced};
  } catch (error) {
    replaced?.forget();
    removeIfUnchanged(disk, to, bytes);
    return {failed: error as Error};
  }
  replaced?.forget();
  return saved;
}

function keepMoved(disk: Disk, {from, expected, to, bytes}: Moving): ReplacedFile | undefined {
  try {
    return linkReplaced({disk, path: to, target: from, temp: temporaryBeside(disk, to), expected, bytes});
  } catch (error) {
    // Somebody has just removed the file.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Remove a file if it has the expected content; false: it has not, and stays. Compares once more after moving the file aside, to find a
 * save of an editor at the last moment. If the process is killed before that, a temporary file is left, and the next start compares.
 */
export function removeIfUnchanged(disk: Disk, path: string, expected: Buffer): boolean {
  const aside = asideOf(disk, path, expected);
  try {
    if (!disk.read(path).equals(expected)) return false;
    disk.rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
  crashPoint('remove');
  const same = disk.read(aside).equals(expected);
  if (!same) putBack(disk, aside, path);
  disk.unlink(aside);
  crashPoint('remove');
  return same;
}

/** Put the file back, unless a newer one is there by now. */
function putBack(disk: Disk, aside: string, target: string): void {
  try {
    disk.link(aside, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
