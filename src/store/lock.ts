import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {type Holder, holderText, isHolding, parseHolder, thisProcess} from './holder.ts';

export type LockResult = {release: () => void} | {heldBy: Holder};

/**
 * Take the lock file at `path`, or say who has it. It orders Agentdir's own processes; editors know no locks. A holder
 * that is dead, or whose pid now belongs to another process, is replaced at once.
 */
export function tryLock(path: string): LockResult {
  if (lent && dirname(lent) === dirname(path) && linkLent(lent, path)) return {release: () => remove(path)};
  mkdirSync(dirname(path), {recursive: true});
  const own = thisProcess();
  const mine = `${path}.${own.pid}`;
  try {
    writeFileSync(mine, holderText(own));
    for (let tries = 0; tries < 5; tries++) {
      if (takeLock(mine, path)) return {release: () => remove(path)};
      const holder = holderOf(path);
      if (holder === undefined) continue;
      if (isHolding(holder)) return {heldBy: holder};
      takeAway(path, mine, holder);
    }
    return {heldBy: holderOf(path) ?? own};
  } finally {
    rmSync(mine, {force: true});
  }
}

/** A lock that this process holds for as long as it lives. */
let lent: string | undefined;

/** From now on, locks beside this one, which this process holds for good, are links to it: nothing need be written. */
export function lendLock(path: string): void {
  lent = path;
}

/** False if it is to be done the usual way: the lock is taken, or the lent one was removed. */
function linkLent(from: string, lock: string): boolean {
  try {
    linkSync(from, lock);
    return true;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** As `tryLock`, waiting up to `ms` for a holder that is alive. */
export async function waitForLock(path: string, ms: number): Promise<LockResult> {
  const end = performance.now() + ms;
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    const result = tryLock(path);
    if ('release' in result || performance.now() > end) return result;
    await new Promise(resolve => setTimeout(resolve, pause));
  }
}

/** Remove the lock files of killed processes from this folder, in the way in which any other would be taken over. */
export function clearDeadLocks(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const holder = holderOf(path);
    if (!holder || isHolding(holder)) continue;
    // What a process links from, or moved aside, nobody else ever takes.
    if (/\.\d+(?:\.old)?$/.test(name)) rmSync(path, {force: true});
    else {
      const lock = tryLock(path);
      if ('release' in lock) lock.release();
    }
  }
}

/** Who holds it, alive or not; undefined if nobody. */
export function holderOf(path: string): Holder | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  // Something else lies there: as if its holder had died.
  return parseHolder(text) ?? {pid: 0, began: '-', boot: '-', host: thisProcess().host};
}

/**
 * Make `from` the lock file `lock`: whole or not at all, so nobody ever sees one without its holder in it. False if
 * somebody holds it.
 */
export function takeLock(from: string, lock: string): boolean {
  try {
    linkSync(from, lock);
    return true;
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EMLINK' && code !== 'ENOSYS') throw error;
  }
  try {
    // No hard links here: exclusive creation is the next best.
    writeFileSync(lock, readFileSync(from), {flag: 'wx'});
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Move a dead holder's file aside. If another process was faster and the file is its fresh one, put it back. */
function takeAway(path: string, mine: string, dead: Holder): void {
  const aside = `${mine}.old`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const moved = holderOf(aside);
  if (moved && holderText(moved) !== holderText(dead) && statSync(aside, {throwIfNoEntry: false}))
    takeLock(aside, path);
  rmSync(aside, {force: true});
}
