import {linkSync, readFileSync, renameSync, unlinkSync} from 'node:fs';
import {join} from 'node:path';
import {crashPoint} from './crash.ts';
import {keepReplaced, type Replaced} from './replaced.ts';
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
export async function move(home: string, {from, expected, to, bytes}: Moving): Promise<SaveResult> {
  const saved = await save(home, {path: to, expected: undefined, bytes});
  if (!('saved' in saved)) return saved;
  crashPoint('move');
  const replaced = keepMoved(home, {from, expected, to, bytes});
  if (removeIf(home, from, expected)) return {...saved, replaced};
  replaced?.forget();
  return saved;
}

function keepMoved(home: string, {from, expected, to, bytes}: Moving): Replaced | undefined {
  const [target, temp] = [join(home, from), temporaryBeside(join(home, to))];
  try {
    return keepReplaced({home, path: to, target, temp, expected, bytes});
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
export function removeIf(home: string, path: string, expected: Buffer): boolean {
  const target = join(home, path);
  const taken = temporaryBeside(target);
  try {
    if (!readFileSync(target).equals(expected)) return false;
    renameSync(target, taken);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
  crashPoint('remove');
  const same = readFileSync(taken).equals(expected);
  if (!same) putBack(taken, target);
  unlinkSync(taken);
  crashPoint('remove');
  return same;
}

/** Unless something newer is there by now. */
function putBack(taken: string, target: string): void {
  try {
    linkSync(taken, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
