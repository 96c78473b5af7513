import {randomBytes} from 'node:crypto';
import {dirname} from 'node:path';
import type {Disk} from './disk.ts';
import {type Holder, holderText, isSameProcess, parseHolder} from './holder.ts';

export type LockResult = {release: () => void} | {heldBy: Holder};

/** `life`: held until the process ends. Other containers can see whether the holder runs. */
export type LockTerm = 'brief' | 'life';

/**
 * Take the lock file at `path`, or return its holder. Locks only coordinate agentdir processes; editors ignore them. A dead holder, or
 * one whose pid now belongs to another process, is replaced at once.
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
        // Without hard links the lock is a copy, and the kernel lock is on the other file.
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

/** A file name that no other process uses: another container may have a process with the same pid. */
function uniqueBeside(disk: Disk, path: string): string {
  const {pid, namespace} = disk.processes.self();
  return `${path}.${pid}${namespace ? `-${randomBytes(4).toString('hex')}` : ''}`;
}

/** How often the holder of a `life` lock touches it; see `isHolding` in holder.ts. */
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
        // The lock is gone or read-only.
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

/** The running holder of this lock. */
export function livingHolder(disk: Disk, path: string): Holder | undefined {
  const holder = holderOf(disk, path);
  return holder && isHolding(disk, path, holder) ? holder : undefined;
}

/** The `life` lock of this process, for each disk. */
const lentLocks = new WeakMap<Disk, string>();

/** From now on, create locks in the same folder as hard links to this `life` lock, which saves writing files. */
export function lendLock(disk: Disk, path: string): void {
  lentLocks.set(disk, path);
}

/** False: take the lock the usual way, because it is held or the lent lock was removed. */
function linkLent(disk: Disk, from: string, lock: string): boolean {
  try {
    disk.link(from, lock);
    return true;
  } catch {
    return false;
  }
}

/** Like `tryLock`, but wait up to `ms` for a running holder. */
export async function waitForLock(disk: Disk, path: string, ms: number): Promise<LockResult> {
  const {clock} = disk;
  const end = clock.monotonic() + ms;
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    const result = tryLock(disk, path);
    if ('release' in result || clock.monotonic() > end) return result;
    await clock.pause(pause);
  }
}

/** Remove lock files of dead processes from this folder. Writes nothing, because the disk may be full. */
export function clearDeadLocks(disk: Disk, folder: string): void {
  for (const name of disk.names(folder)) {
    const path = `${folder}/${name}`;
    const holder = holderOf(disk, path);
    if (!holder || isHolding(disk, path, holder)) continue;
    // No other process takes a file that a process links from or has moved aside.
    if (/\.\d+(?:-[0-9a-f]{8})?(?:\.old)?$/.test(name)) disk.remove(path);
    else takeAway(disk, path, uniqueBeside(disk, path), holder);
  }
}

/** The holder of a lock, running or not. */
export function holderOf(disk: Disk, path: string): Holder | undefined {
  let text: string;
  try {
    text = disk.read(path).toString();
  } catch {
    return undefined;
  }
  // Not a lock file: treat its holder as dead.
  return parseHolder(text) ?? {pid: 0, began: '-', boot: '-', host: disk.processes.self().host};
}

/**
 * Create the lock file `lock` as a hard link to `from`, so that it never exists without its content. False if it already exists.
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
    // The file system has no hard links: fall back to exclusive creation.
    disk.write(lock, disk.read(from), 'wx');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Remove a dead holder's lock. If another process has taken the lock meanwhile, put its file back. */
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
