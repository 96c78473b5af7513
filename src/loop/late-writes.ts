import {type LateWrite, listReplaced, type ReplacedFile} from '../home/replaced-files.ts';
import {HALF_SAVED_MS, mayBeHalfSaved, stableMs} from './half-saved.ts';
import type {HomeFiles} from './home-files.ts';
import {isDamaged, recentVersions} from './power-cut.ts';

/** How long an editor that had the old file open may take to write into it. */
const CHECKS_MS = [300, 1_500];
/** And how often to look again as long as somebody has it open. */
const OPEN_MS = 2_000;

/** Look a few times whether an editor wrote into a file that was replaced; let go of it when nobody has it open any more. */
export function watchReplacedFile(files: HomeFiles, replaced: ReplacedFile): void {
  const [first = 0, ...rest] = CHECKS_MS;
  const checkAfter = (ms: number, later: readonly number[]) => {
    files.disk.clock.after(ms, () => void check(later));
  };
  const accept = (): boolean => {
    const late = lateIn(replaced);
    if (!late) return false;
    const left = stillToHold(files, late);
    if (left > 0) checkAfter(left, rest);
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
    // What was written between the last look and the last close.
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

/** How long the bytes must stay as they are: as with the file itself, they may be half saved. A time in the future says nothing. */
function stillToHold({caches, disk}: HomeFiles, {base, bytes, writtenAt}: LateWrite): number {
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

/** At the start: bytes that were written into files which an earlier run replaced. Whoever has one open may still write into it. */
export function recoverReplacedFiles(files: HomeFiles): void {
  // After a power cut no editor has such a file open, and parts of it may be missing.
  const isTorn = (path: string, bytes: Buffer) =>
    files.versions.log.rebooted && isDamaged(bytes, recentVersions(files, path));
  for (const replaced of listReplaced(files.disk, isTorn)) {
    const {path} = replaced;
    const late = lateIn(replaced);
    if (late && isTorn(path, late.bytes)) replaced.forget();
    else if (late) files.looks.lateWrites.set(path, [...(files.looks.lateWrites.get(path) ?? []), replaced]);
    else watchReplacedFile(files, replaced);
  }
}
