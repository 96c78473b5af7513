import {randomBytes} from 'node:crypto';
import {dirname} from 'node:path';
import type {Disk} from './disk.ts';
import {type Holder, holderText, isSameProcess, parseHolder} from './holder.ts';

export type LockResult = {release: () => void} | {heldBy: Holder};

/** `life`: until the process ends. Other containers can see whether its holder runs. */
export type LockTerm = 'brief' | 'life';

/**
 * Take the lock file at `path`, or say who has it. It orders Agentdir's own processes; editors know no locks. A holder
 * that is dead, or whose pid now belongs to another process, is replaced at once.
 */
export function tryLock(disk: Disk, path: string, term: LockTerm = 'brief'): LockResult {
  const lent = lentLocks.get(disk);
  if (lent && dirname(lent) === dirname(path) && linkLent(disk, lent, path)) return {release: () => disk.remove(path)};
  disk.makeDirectory(dirname(path));
  const own = disk.processes.self();
  const mine = uniqueBeside(disk, path);
  let unlock: (() => void) | undefined;
  try {
    disk.write(mine, holderText(own));
    if (term === 'life') unlock = disk.processes.lockFile?.(`${disk.root}/${mine}`);
    if (unlock) disk.write(mine, holderText({...own, kernelLocked: true}));
    for (let tries = 0; tries < 5; tries++) {
      if (takeLock(disk, mine, path)) {
        // Copied, where there are no hard links: the kernel's lock is on the other file.
        if (unlock && disk.stat(mine)?.ino !== disk.stat(path)?.ino) disk.write(path, holderText(own));
        const held = heldLock(disk, path, term, unlock);
        unlock = undefined;
        return held;
      }
      const holder = holderOf(disk, path);
      if (holder === undefined) continue;
      if (isHolding(disk, path, holder)) return {heldBy: holder};
      takeAway(disk, path, mine, holder);
    }
    return {heldBy: holderOf(disk, path) ?? own};
  } finally {
    disk.remove(mine);
    unlock?.();
  }
}

/** Of this process alone: another container may have a process of our pid. */
function uniqueBeside(disk: Disk, path: string): string {
  const {pid, namespace} = disk.processes.self();
  return `${path}.${pid}${namespace ? `-${randomBytes(4).toString('hex')}` : ''}`;
}

/** How often the holder of a lock for life touches it; see `isHolding` of holder.ts. */
const TOUCH_MS = 15_000;

function heldLock(disk: Disk, path: string, term: LockTerm, unlock: (() => void) | undefined): LockResult {
  const own = disk.processes.self();
  const isOurs = () => {
    const holder = holderOf(disk, path);
    return holder !== undefined && isSameProcess(holder, own);
  };
  let cancel: (() => void) | undefined;
  const touchLater = () => {
    cancel = disk.clock.after(TOUCH_MS, () => {
      try {
        const now = Date.now() / 1000;
        if (isOurs()) disk.setTimes(path, now, now);
      } catch {
        // Gone, or not to be written: who holds it is decided elsewhere.
      }
      touchLater();
    });
  };
  if (term === 'life' && own.namespace) touchLater();
  let isReleased = false;
  return {
    release: () => {
      if (isReleased) return;
      isReleased = true;
      cancel?.();
      if (term === 'brief' || isOurs()) disk.remove(path);
      unlock?.();
    },
  };
}

function isHolding(disk: Disk, path: string, holder: Holder): boolean {
  return disk.processes.isHolding(holder, `${disk.root}/${path}`);
}

/** Who holds this lock and runs; undefined if nobody does. */
export function livingHolder(disk: Disk, path: string): Holder | undefined {
  const holder = holderOf(disk, path);
  return holder && isHolding(disk, path, holder) ? holder : undefined;
}

/** A lock that this process holds for as long as it lives, for each disk. */
const lentLocks = new WeakMap<Disk, string>();

/** From now on, locks beside this one, which this process holds for good, are links to it: nothing need be written. */
export function lendLock(disk: Disk, path: string): void {
  lentLocks.set(disk, path);
}

/** False if it is to be done the usual way: the lock is taken, or the lent one was removed. */
function linkLent(disk: Disk, from: string, lock: string): boolean {
  try {
    disk.link(from, lock);
    return true;
  } catch {
    return false;
  }
}

/** As `tryLock`, waiting up to `ms` for a holder that is alive. */
export async function waitForLock(disk: Disk, path: string, ms: number): Promise<LockResult> {
  const {clock} = disk;
  const end = clock.monotonic() + ms;
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    const result = tryLock(disk, path);
    if ('release' in result || clock.monotonic() > end) return result;
    await clock.pause(pause);
  }
}

/** Remove the lock files of killed processes from this folder. Writes nothing: the disk may be full. */
export function clearDeadLocks(disk: Disk, folder: string): void {
  for (const name of disk.names(folder)) {
    const path = `${folder}/${name}`;
    const holder = holderOf(disk, path);
    if (!holder || isHolding(disk, path, holder)) continue;
    // What a process links from, or moved aside, nobody else ever takes.
    if (/\.\d+(?:-[0-9a-f]{8})?(?:\.old)?$/.test(name)) disk.remove(path);
    else takeAway(disk, path, uniqueBeside(disk, path), holder);
  }
}

/** Who holds it, alive or not; undefined if nobody. */
export function holderOf(disk: Disk, path: string): Holder | undefined {
  let text: string;
  try {
    text = disk.read(path).toString();
  } catch {
    return undefined;
  }
  // Something else lies there: as if its holder had died.
  return parseHolder(text) ?? {pid: 0, began: '-', boot: '-', host: disk.processes.self().host};
}

/**
 * Make `from` the lock file `lock`: whole or not at all, so nobody ever sees one without its holder in it. False if
 * somebody holds it.
 */
export function takeLock(disk: Disk, from: string, lock: string): boolean {
  try {
    disk.link(from, lock);
    return true;
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EMLINK' && code !== 'ENOSYS') throw error;
  }
  try {
    // No hard links here: exclusive creation is the next best.
    disk.write(lock, disk.read(from), 'wx');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Move a dead holder's file aside. If another process was faster and the file is its fresh one, put it back. */
function takeAway(disk: Disk, path: string, mine: string, dead: Holder): void {
  const aside = `${mine}.old`;
  try {
    disk.rename(path, aside);
  } catch {
    return;
  }
  const moved = holderOf(disk, aside);
  if (moved && !isSameProcess(moved, dead) && disk.exists(aside)) takeLock(disk, aside, path);
  disk.remove(aside);
}
