import {randomBytes} from 'node:crypto';
import {
  closeSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {type Holder, holderText, isRunning, isSameProcess, parseHolder, thisProcess} from './holder.ts';
import {isKernelLocked, lockOpenFile} from './kernel-lock.ts';

export type LockResult = {release: () => void} | {heldBy: Holder};

/** `life`: until the process ends. Such a lock is seen from other containers, too; see `isHolding`. */
export type LockTerm = 'brief' | 'life';

/**
 * Take the lock file at `path`, or say who has it. It orders Agentdir's own processes; editors know no locks. A holder
 * that is dead, or whose pid now belongs to another process, is replaced at once.
 */
export function tryLock(path: string, term: LockTerm = 'brief'): LockResult {
  if (lent && dirname(lent) === dirname(path) && linkLent(lent, path)) return {release: () => remove(path)};
  makeLockFolder(dirname(path));
  const own = thisProcess();
  const mine = uniqueBeside(path);
  let kernelLock: number | undefined;
  const taken = (): LockResult => {
    const fd = kernelLock;
    kernelLock = undefined;
    const timer = term === 'life' && own.namespace !== '' ? setInterval(touch, TOUCH_MS, path, own).unref() : undefined;
    let isReleased = false;
    return {
      release: () => {
        if (isReleased) return;
        isReleased = true;
        clearInterval(timer);
        const holder = holderOf(path);
        if (holder && isSameProcess(holder, own)) remove(path);
        if (fd !== undefined) closeSync(fd);
      },
    };
  };
  try {
    writeFileSync(mine, holderText(own));
    if (term === 'life') kernelLock = lockByKernel(mine, own);
    for (let tries = 0; tries < 5; tries++) {
      if (takeLock(mine, path)) {
        if (kernelLock !== undefined && !isSameFile(kernelLock, path)) writeFileSync(path, holderText(own));
        return taken();
      }
      const holder = holderOf(path);
      if (holder === undefined) continue;
      if (isHolding(path, holder)) return {heldBy: holder};
      takeAway(path, mine, holder);
    }
    return {heldBy: holderOf(path) ?? own};
  } finally {
    rmSync(mine, {force: true});
    if (kernelLock !== undefined) closeSync(kernelLock);
  }
}

/** Of this process alone: another container may have a process of our pid. */
function uniqueBeside(path: string): string {
  return `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
}

/** The folder of locks is derived and may be missing. The home is not made: one that is gone stays gone. */
function makeLockFolder(folder: string): void {
  for (const path of [dirname(folder), folder])
    try {
      mkdirSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
}

/** An open file to keep, or undefined where there are no locks of the kernel's. */
function lockByKernel(path: string, own: Holder): number | undefined {
  const fd = openSync(path, 'r+');
  if (lockOpenFile(fd)) {
    writeFileSync(fd, holderText({...own, kernelLocked: true}));
    return fd;
  }
  closeSync(fd);
  return undefined;
}

/** False where the lock file had to be copied, because there are no hard links. */
function isSameFile(fd: number, path: string): boolean {
  const [one, other] = [fstatSync(fd, {bigint: true}), statSync(path, {bigint: true, throwIfNoEntry: false})];
  return one.ino === other?.ino && one.dev === other.dev;
}

/** A lock file that its holder has not touched for so long, and whose holder cannot be seen, counts as abandoned. */
const UNSEEN_MS = 60_000;
/** How often the holder of a lock for life touches it. */
const TOUCH_MS = 15_000;

function touch(path: string, own: Holder): void {
  try {
    const holder = holderOf(path);
    const now = new Date();
    if (holder && isSameProcess(holder, own)) utimesSync(path, now, now);
  } catch {
    // Gone, or not to be written: who holds it is decided elsewhere.
  }
}

/**
 * Whether this holder of the lock file still runs. A process of another container (pid namespace) is not judged by its pid: the
 * kernel knows whether the file is locked. Where there is no such lock, the holder counts as alive until the file is
 * a minute old; whoever holds a lock for life touches it meanwhile. A holder on another machine counts as alive.
 * Must not throw.
 */
export function isHolding(path: string, holder: Holder): boolean {
  const running = isRunning(holder);
  if (running !== undefined) return running;
  if (holder.boot !== thisProcess().boot || holder.namespace === '') return true;
  const locked = holder.kernelLocked ? isKernelLocked(path) : undefined;
  return locked ?? Date.now() - (statSync(path, {throwIfNoEntry: false})?.mtimeMs ?? 0) < UNSEEN_MS;
}

/** Who holds this lock and runs; undefined if nobody does. */
export function livingHolder(path: string): Holder | undefined {
  const holder = holderOf(path);
  return holder && isHolding(path, holder) ? holder : undefined;
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

/** Remove the lock files of killed processes from this folder. Writes nothing: the disk may be full. */
export function clearDeadLocks(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const holder = holderOf(path);
    if (!holder || isHolding(path, holder)) continue;
    // What a process links from, or moved aside, nobody else ever takes.
    if (/\.\d+(?:-[0-9a-f]{8})?(?:\.old)?$/.test(name)) rmSync(path, {force: true});
    else takeAway(path, uniqueBeside(path), holder);
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
  return parseHolder(text) ?? {...thisProcess(), pid: 0, began: '-', boot: '-', kernelLocked: false};
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
  if (moved && !isSameProcess(moved, dead) && statSync(aside, {throwIfNoEntry: false})) takeLock(aside, path);
  rmSync(aside, {force: true});
}
