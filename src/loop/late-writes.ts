import {type LateWrite, listReplaced, type ReplacedFile} from '../home/replaced-files.ts';
import {HALF_SAVED_MS, mayBeHalfSaved, stableMs} from './half-saved.ts';
import type {HomeFiles} from './home-files.ts';
import {isTorn} from './power-cut.ts';

/** When to check whether an editor that had the old file open wrote into it. */
const CHECKS_MS = [300, 1_500];
/** How often to check after that, while any process has the file open. */
const OPEN_MS = 2_000;

/** Check a few times whether an editor wrote into a replaced file. Forget the file when no process has it open. */
export function watchReplacedFile(files: HomeFiles, replaced: ReplacedFile): void {
  const [first = 0, ...rest] = CHECKS_MS;
  const checkAfter = (ms: number, later: readonly number[]) => {
    files.disk.clock.after(ms, () => void check(later));
  };
  const accept = (): boolean => {
    const late = lateIn(replaced);
    if (!late) return false;
    const waitMs = stableIn(files, late);
    if (waitMs > 0) checkAfter(waitMs, rest);
    else {
      files.looks.lateWrites.set(replaced.path, [...(files.looks.lateWrites.get(replaced.path) ?? []), replaced]);
      files.queue.add(replaced.path);
    }
    return true;
  };
  const check = async ([next, ...others]: readonly number[]): Promise<void> => {
    if (accept()) return;
    if (next !== undefined) return checkAfter(next, others);
    if (await files.disk.isOpenElsewhere(replaced.inode)) return checkAfter(OPEN_MS, []);
    // The editor may have written between the last check and closing the file.
    if (!accept()) replaced.forget();
  };
  checkAfter(first, rest);
}

/** Watch a replaced file again after its late bytes were merged: the editor may write more. */
export function keepWatching(files: HomeFiles, after: () => ReplacedFile): void {
  let rest: ReplacedFile;
  try {
    rest = after();
  } catch {
    // Gone: somebody emptied .agentdir.
    return;
  }
  watchReplacedFile(files, rest);
}

/** Milliseconds until the bytes count as completely saved. A `writtenAt` in the future is ignored. */
function stableIn({caches, disk}: HomeFiles, {base, bytes, writtenAt}: LateWrite): number {
  const {texts} = caches;
  const {clock} = disk;
  const [before, now] = [texts.get(base), bytes.toString()];
  const needed = mayBeHalfSaved(before, now, false) ? HALF_SAVED_MS : stableMs(before, now);
  const age = clock.now() - writtenAt;
  return age < 0 ? 0 : Math.max(0, needed - age);
}

function lateIn(replaced: ReplacedFile): LateWrite | undefined {
  try {
    return replaced.lateWrite();
  } catch {
    // Gone: somebody emptied .agentdir.
    return undefined;
  }
}

/** At the start: collect late writes into files that an earlier run replaced, and watch the other replaced files. */
export function recoverReplacedFiles(files: HomeFiles): void {
  // After a power cut no editor has such a file open, and parts of it may be missing.
  for (const replaced of listReplaced(files.disk, (path, bytes) => isTorn(files, path, bytes))) {
    const {path} = replaced;
    const late = lateIn(replaced);
    if (late && isTorn(files, path, late.bytes)) replaced.forget();
    else if (late) files.looks.lateWrites.set(path, [...(files.looks.lateWrites.get(path) ?? []), replaced]);
    else watchReplacedFile(files, replaced);
  }
}
