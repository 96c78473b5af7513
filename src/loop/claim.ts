import {dirname} from 'node:path';
import {exit, UserError} from '../formats/common/errors.ts';
import type {Disk} from '../home/disk/disk.ts';
import {type Holder, isSameProcess} from '../home/disk/holder.ts';
import {clearDeadLocks, holderOf, type LockResult, lendLock, tryLock} from '../home/disk/lock.ts';
import {DAEMON_LOCK, PID_FILE, STATUS_FILE} from '../home/status.ts';
import {notWritten} from '../home/write-failure.ts';

export interface Claim {
  /** Whether this daemon still holds the home. If somebody removed the lock (`git clean -fdx`), take it again. */
  renew: () => boolean;
  /** Whether the home was moved or deleted. Then nothing may be written to its old path. */
  isHomeGone: () => boolean;
  /** `failed`: keep the status file, which says why. */
  release: (failed: boolean) => void;
}

/** How long to wait for a killed holder to exit; longer for a holder in another container, whose process is not visible. */
const ENDING_MS = 50;
const UNSEEN_ENDING_MS = 1_000;
const LOOK_MS = 25;

/** Take the home for this daemon. Throws a `UserError` that names the other daemon if one already serves the home. */
export async function claim(disk: Disk): Promise<Claim> {
  let lock = await takeDaemonLock(disk);
  clearDeadLocks(disk, dirname(DAEMON_LOCK));
  lendLock(disk, DAEMON_LOCK);
  const release = (failed: boolean) => {
    if (isOurs(disk)) for (const file of [PID_FILE, ...(failed ? [] : [STATUS_FILE])]) disk.remove(file);
    lock.release();
  };
  const writePid = () => disk.write(PID_FILE, `${disk.processes.self().pid}\n`);
  try {
    // The status of an earlier daemon may have the same pid as this one.
    disk.remove(STATUS_FILE);
    writePid();
  } catch (error) {
    release(false);
    throw cannotWrite(disk, PID_FILE, error as Error);
  }
  const renew = () => {
    if (isOurs(disk)) return true;
    try {
      lock.release();
      const again = tryLock(disk, DAEMON_LOCK, 'life');
      if ('heldBy' in again) return false;
      lock = again;
      writePid();
    } catch {
      // The disk is full or read-only: no other daemon can take the lock either.
    }
    return true;
  };
  return {renew, isHomeGone: watchIdentity(disk), release};
}

/**
 * Returns a check whether the folder at this path is no longer the served home. A folder with neither settings nor lock is being
 * deleted.
 */
function watchIdentity(disk: Disk): () => boolean {
  const identityOf = () => {
    const stat = disk.stat('');
    return stat ? `${stat.dev}.${stat.ino}` : '';
  };
  const identity = identityOf();
  return () => {
    try {
      return identityOf() !== identity || (!disk.stat('agentdir.yaml') && !disk.stat(DAEMON_LOCK));
    } catch {
      // A parent folder is not accessible; the home may still be there.
      return false;
    }
  };
}

function isOurs(disk: Disk): boolean {
  const holder = holderOf(disk, DAEMON_LOCK);
  return holder !== undefined && isSameProcess(holder, disk.processes.self());
}

async function takeDaemonLock(disk: Disk): Promise<Exclude<LockResult, {heldBy: Holder}>> {
  const begun = disk.clock.monotonic();
  for (;;) {
    const lock = tryDaemonLock(disk);
    if ('release' in lock) return lock;
    const patience = isUnseen(disk, lock.heldBy) ? UNSEEN_ENDING_MS : ENDING_MS;
    if (disk.clock.monotonic() - begun > patience) throw taken(disk, lock.heldBy);
    await disk.clock.pause(LOOK_MS);
  }
}

/** Whether the holder runs in another container or on another machine. */
function isUnseen({processes}: Disk, holder: Holder): boolean {
  return processes.isRunning !== undefined && processes.isRunning(holder) === undefined;
}

function taken(disk: Disk, holder: Holder): UserError {
  const {pid, host} = holder;
  const unseen = isUnseen(disk, holder);
  const gone = unseen ? ` (if ${host} is gone for good: rm ${disk.root}/${DAEMON_LOCK})` : '';
  return new UserError(
    `a daemon already serves this home: process ${pid} on ${host}${unseen ? ', in another container or machine' : ''}`,
    exit.daemon,
    `see agentdir status; to stop it: agentdir stop${gone}`,
  );
}

function tryDaemonLock(disk: Disk): LockResult {
  try {
    return tryLock(disk, DAEMON_LOCK, 'life');
  } catch (error) {
    throw cannotWrite(disk, DAEMON_LOCK, error as Error);
  }
}

function cannotWrite(disk: Disk, path: string, error: Error): UserError {
  return notWritten(`${disk.root}/${path}`, error);
}
