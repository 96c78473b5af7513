import {type Late, leftReplaced, type ReplacedFile} from '../home/replaced.ts';
import {DOUBTFUL_MS, isDoubtful, stableMs} from './half-saved.ts';
import type {HomeFiles} from './home-files.ts';

/** How long an editor that had the old file open may take to write into it. */
const CHECKS_MS = [300, 1_500];
/** And how often to look again as long as somebody has it open. */
const OPEN_MS = 2_000;

/** Look a few times whether an editor wrote into a file that was replaced; let go of it when nobody has it open any more. */
export function watchReplaced(files: HomeFiles, replaced: ReplacedFile): void {
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
      files.looks.late.set(replaced.path, [...(files.looks.late.get(replaced.path) ?? []), replaced]);
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

/** These bytes are merged; whoever wrote them may not be done yet. */
export function watchOn(files: HomeFiles, after: () => ReplacedFile): void {
  let rest: ReplacedFile;
  try {
    rest = after();
  } catch {
    // Gone: somebody emptied .agentdir.
    return;
  }
  watchReplaced(files, rest);
}

/** How long the bytes must stay as they are: as with the file itself, they may be half saved. A time in the future says nothing. */
function stillToHold({kept, disk}: HomeFiles, {base, bytes, writtenAt}: Late): number {
  const {texts} = kept;
  const {clock} = disk;
  const [before, now] = [texts.get(base), bytes.toString()];
  const needed = isDoubtful(before, now, false) ? DOUBTFUL_MS : stableMs(before, now);
  const age = clock.now() - writtenAt;
  return age < 0 ? 0 : Math.max(0, needed - age);
}

function lateIn(replaced: ReplacedFile): Late | undefined {
  try {
    return replaced.late();
  } catch {
    // Gone: somebody emptied .agentdir.
    return undefined;
  }
}

/** At the start: bytes that were written into files which an earlier run replaced. Whoever has one open may still write into it. */
export function recoverReplaced(files: HomeFiles): void {
  for (const replaced of leftReplaced(files.disk)) {
    const {path} = replaced;
    if (lateIn(replaced)) files.looks.late.set(path, [...(files.looks.late.get(path) ?? []), replaced]);
    else watchReplaced(files, replaced);
  }
}
