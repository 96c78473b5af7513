import {takeAside} from '../store/aside.ts';
import {isOpen} from '../store/open-files.ts';
import {KEPT_MS, leftPassed, type Passed, pass, versionsIn} from '../store/passed.ts';
import {type Late, leftReplaced, type Replaced, shortId} from '../store/replaced.ts';
import {DOUBTFUL_MS, isDoubtful, stableMs} from './doubt.ts';
import {retryWhileFull} from './full-disk.ts';
import type {Serving} from './serving.ts';
import {inWords} from './troubles.ts';

/** How long an editor that had the old file open may take to write into it. */
const CHECKS_MS = [300, 1_500];
/** And how often to look again as long as somebody has it open. */
const OPEN_MS = 2_000;

/**
 * Look a few times whether something was written into a file that was replaced; if not, and nobody has it open any
 * more, let go of it.
 */
export function watchReplaced(serving: Serving, replaced: Replaced): void {
  const [first = 0, ...rest] = CHECKS_MS;
  const checkAfter = (ms: number, later: readonly number[]) => {
    setTimeout(() => void check(later), ms).unref();
  };
  const take = (): boolean => {
    const late = lateIn(replaced);
    if (!late) return false;
    const left = stillToHold(serving, late);
    if (left > 0) checkAfter(left, rest);
    else {
      serving.late.set(replaced.path, [...(serving.late.get(replaced.path) ?? []), replaced]);
      serving.queue.add(replaced.path);
    }
    return true;
  };
  const check = async ([next, ...others]: readonly number[]): Promise<void> => {
    if (take()) return;
    if (next !== undefined) return checkAfter(next, others);
    if (isNeeded(serving, replaced) || (await isOpen(serving.home, replaced.inode))) return checkAfter(OPEN_MS, []);
    // What was written between the last look and the last close.
    if (!take()) letGo(serving, replaced);
  };
  checkAfter(first, rest);
}

/**
 * Until it is in git, this is where what the person saved is kept, and all that says that what took its place is the
 * daemon's. Of what an earlier run left, each version leads to the one before it.
 */
function isNeeded({cause, unpublished}: Serving, {path, base, next}: Replaced): boolean {
  if (cause === RECOVERED) return true;
  return (unpublished.get(path) ?? []).some(
    version => version.blob === base || shortId(version.blob) === next || version.cause === RECOVERED,
  );
}

const RECOVERED: Serving['cause'] = 'recovered';

/** What history has not is kept for a while: a person's buffer may be of it, whichever daemon runs by then. */
function letGo({home, overtaken, left}: Serving, replaced: Replaced): void {
  const {path, base, next} = replaced;
  const versions = [...(overtaken.get(path) ?? []), ...(left.get(path) ?? [])];
  const isMissed = versions.some(({blob}) => blob === base || shortId(blob) === next);
  const passed = isMissed ? pass(home, replaced) : replaced.forget();
  if (passed) forgetInTime(passed);
}

function forgetInTime({at, forget}: Passed): void {
  setTimeout(forget, Math.max(0, at + KEPT_MS - Date.now())).unref();
}

/** These bytes are merged; whoever wrote them may not be done yet. */
export function watchOn(serving: Serving, after: () => Replaced): void {
  let rest: Replaced;
  try {
    rest = after();
  } catch {
    // Gone: somebody emptied .agentdir.
    return;
  }
  watchReplaced(serving, rest);
}

/** How long it must stay as it is: as with the file itself, it may be half saved. A time in the future says nothing. */
function stillToHold({texts}: Serving, {base, bytes, writtenAt}: Late): number {
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
export function recoverReplaced(serving: Serving): void {
  const replaced = leftReplaced(serving.home);
  for (const one of replaced) {
    const {path, base, next, by, at} = one;
    // What a person saved and the daemon completed: killed before the commit, only this knows of it.
    serving.madeFrom.set(next, base);
    if (by === 'daemon') {
      serving.writtenBefore.add(next);
      serving.leftBefore.set(path, {blob: next, at});
    }
    keep(serving, one, one.kept());
    if (lateIn(one)) serving.late.set(path, [...(serving.late.get(path) ?? []), one]);
    else watchReplaced(serving, one);
  }
  takeAside(serving.home, ({path, blob, bytes}) => {
    if (serving.leftBefore.get(path)?.blob === shortId(blob)) keep(serving, {path, base: blob}, bytes);
  });
  recoverVersions(
    serving,
    replaced.filter(({by}) => by === 'daemon'),
  );
}

/** Versions that earlier daemons wrote, or wrote from, and which perhaps no commit has. */
function recoverVersions(serving: Serving, replaced: readonly Replaced[]): void {
  const passed = leftPassed(serving.home, Date.now());
  for (const one of passed) {
    keep(serving, one, one.bytes());
    forgetInTime(one);
  }
  const all = [...replaced, ...passed].sort((a, b) => b.at - a.at);
  for (const path of new Set(all.map(one => one.path)))
    serving.left.set(path, versionsIn(all.filter(one => one.path === path)));
}

/** On a full disk later: until then it is where it was found. */
function keep(serving: Serving, {path, base}: {path: string; base: string}, bytes: Buffer | undefined): void {
  const {journal, troubles} = serving;
  if (!bytes || journal.committed.get(path) === base) return;
  void retryWhileFull(troubles, `an earlier version of ${path}`, () => void journal.keep(bytes)).catch((error: Error) =>
    troubles.set(`keep ${path}`, inWords(`an earlier version of ${path}`, error)),
  );
}
