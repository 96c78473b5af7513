import {dirname} from 'node:path';
import type {Disk} from './disk.ts';
import {type Holder, holderText, parseHolder} from './holder.ts';

export type LockResult = {release: () => void} | {heldBy: Holder};

/**
 * Take the lock file at `path`, or say who has it. It orders Agentdir's own processes; editors know no locks. A holder
 * that is dead, or whose pid now belongs to another process, is replaced at once.
 */
export function tryLock(disk: Disk, path: string): LockResult {
  const release = () => disk.remove(path);
  const lent = lentLocks.get(disk);
  if (lent && dirname(lent) === dirname(path) && linkLent(disk, lent, path)) return {release};
  disk.makeDirectory(dirname(path));
  const own = disk.processes.self();
  const mine = `${path}.${own.pid}`;
  try {
    disk.write(mine, holderText(own));
    for (let tries = 0; tries < 5; tries++) {
      if (takeLock(disk, mine, path)) return {release};
      const holder = holderOf(disk, path);
      if (holder === undefined) continue;
      if (disk.processes.isHolding(holder)) return {heldBy: holder};
      takeAway(disk, path, mine, holder);
    }
    return {heldBy: holderOf(disk, path) ?? own};
  } finally {
    disk.remove(mine);
  }
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

/** Remove the lock files of killed processes from this folder, in the way in which any other would be taken over. */
export function clearDeadLocks(disk: Disk, folder: string): void {
  for (const name of disk.names(folder)) {
    const path = `${folder}/${name}`;
    const holder = holderOf(disk, path);
    if (!holder || disk.processes.isHolding(holder)) continue;
    // What a process links from, or moved aside, nobody else ever takes.
    if (/\.\d+(?:\.old)?$/.test(name)) disk.remove(path);
    else {
      const lock = tryLock(disk, path);
      if ('release' in lock) lock.release();
    }
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
  if (moved && holderText(moved) !== holderText(dead) && disk.exists(aside)) takeLock(disk, aside, path);
  disk.remove(aside);
}
