import {takeAside} from '../store/aside.ts';
import {isOpen} from '../store/open-files.ts';
import {KEPT_MS, leftPassed, type Passed, pass, versionsIn} from '../store/passed.ts';
import {type Late, leftReplaced, type Replaced, shortId} from '../store/replaced.ts';
import {DOUBTFUL_MS, isDoubtful, stableMs} from './doubt.ts';
import type {HomeFiles, Phase} from './home-files.ts';

/** How long an editor that had the old file open may take to write into it. */
const CHECKS_MS = [300, 1_500];
/** And how often to look again as long as somebody has it open. */
const OPEN_MS = 2_000;

/**
 * Look a few times whether something was written into a file that was replaced; if not, and nobody has it open any
 * more, let go of it.
 */
export function watchReplaced(files: HomeFiles, replaced: Replaced): void {
  const [first = 0, ...rest] = CHECKS_MS;
  const checkAfter = (ms: number, later: readonly number[]) => {
    setTimeout(() => void check(later), ms).unref();
  };
  const take = (): boolean => {
    const late = lateIn(replaced);
    if (!late) return false;
    const left = stillToHold(files, late);
    if (left > 0) checkAfter(left, rest);
    else {
      files.versions.late.set(replaced.path, [...(files.versions.late.get(replaced.path) ?? []), replaced]);
      files.queue.add(replaced.path);
    }
    return true;
  };
  const check = async ([next, ...others]: readonly number[]): Promise<void> => {
    if (take()) return;
    if (next !== undefined) return checkAfter(next, others);
    if (isNeeded(files, replaced) || (await isOpen(files.home, replaced.inode))) return checkAfter(OPEN_MS, []);
    // What was written between the last look and the last close.
    if (!take()) letGo(files, replaced);
  };
  checkAfter(first, rest);
}

/**
 * Until it is in git, this is where what the person saved is kept, and all that says that what took its place is the
 * daemon's. Of what an earlier run left, each version leads to the one before it.
 */
function isNeeded({phase, versions}: HomeFiles, {path, base, next}: Replaced): boolean {
  const {cause} = phase;
  const {unpublished} = versions;
  if (cause === RECOVERED) return true;
  return (unpublished.get(path) ?? []).some(
    version => version.blob === base || shortId(version.blob) === next || version.cause === RECOVERED,
  );
}

const RECOVERED: Phase['cause'] = 'recovered';

/** What history has not is kept for a while: a person's buffer may be of it, whichever daemon runs by then. */
function letGo({home, versions}: HomeFiles, replaced: Replaced): void {
  const {overtaken, earlier} = versions;
  const {left} = earlier;
  const {path, base, next} = replaced;
  const unpublished = [...(overtaken.get(path) ?? []), ...(left.get(path) ?? [])];
  const isMissed = unpublished.some(({blob}) => blob === base || shortId(blob) === next);
  const passed = isMissed ? pass(home, replaced) : replaced.forget();
  if (passed) forgetInTime(passed);
}

function forgetInTime({at, forget}: Passed): void {
  setTimeout(forget, Math.max(0, at + KEPT_MS - Date.now())).unref();
}

/** These bytes are merged; whoever wrote them may not be done yet. */
export function watchOn(files: HomeFiles, after: () => Replaced): void {
  let rest: Replaced;
  try {
    rest = after();
  } catch {
    // Gone: somebody emptied .agentdir.
    return;
  }
  watchReplaced(files, rest);
}

/** How long it must stay as it is: as with the file itself, it may be half saved. A time in the future says nothing. */
function stillToHold({texts}: HomeFiles, {base, bytes, writtenAt}: Late): number {
  const [before, now] = [texts.get(base), bytes.toString()];
  const needed = isDoubtful(before, now, false) ? DOUBTFUL_MS : stableMs(before, now);
  const age = Date.now() - writtenAt;
  return age < 0 ? 0 : Math.max(0, needed - age);
}

function lateIn(replaced: Replaced): Late | undefined {
  try {
    return replaced.late();
  } catch {
    // Gone: somebody emptied .agentdir.
    return undefined;
  }
}

/** What an earlier run left: bytes that came late are merged; whoever had it open may still write into it. */
export function recoverReplaced(files: HomeFiles): void {
  const replaced = leftReplaced(files.home);
  for (const one of replaced) {
    const {path, base, next, by, at} = one;
    // What a person saved and the daemon completed: killed before the commit, only this knows of it.
    files.versions.earlier.madeFrom.set(next, base);
    if (by === 'daemon') {
      files.versions.earlier.writtenBefore.add(next);
      files.versions.earlier.leftBefore.set(path, {blob: next, at});
    }
    keep(files, one, one.kept());
    if (lateIn(one)) files.versions.late.set(path, [...(files.versions.late.get(path) ?? []), one]);
    else watchReplaced(files, one);
  }
  takeAside(files.home, ({path, blob, bytes}) => {
    if (files.versions.earlier.leftBefore.get(path)?.blob === shortId(blob)) keep(files, {path, base: blob}, bytes);
  });
  recoverVersions(
    files,
    replaced.filter(({by}) => by === 'daemon'),
  );
}

/** Versions that earlier daemons wrote, or wrote from, and which perhaps no commit has. */
function recoverVersions(files: HomeFiles, replaced: readonly Replaced[]): void {
  const passed = leftPassed(files.home, Date.now());
  for (const one of passed) {
    keep(files, one, one.bytes());
    forgetInTime(one);
  }
  const all = [...replaced, ...passed].sort((a, b) => b.at - a.at);
  for (const path of new Set(all.map(one => one.path)))
    files.versions.earlier.left.set(path, versionsIn(all.filter(one => one.path === path)));
}

function keep({journal}: HomeFiles, {path, base}: {path: string; base: string}, bytes: Buffer | undefined): void {
  if (bytes && journal.committed.get(path) !== base) journal.keep(bytes);
}
