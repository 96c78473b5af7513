import {dirname} from 'node:path';
import {exit, UserError} from '../errors.ts';
import type {Disk} from '../store/disk.ts';
import {type Holder, holderText} from '../store/holder.ts';
import {clearDeadLocks, holderOf, type LockResult, lendLock, tryLock} from '../store/lock.ts';
import {DAEMON_LOCK, PID_FILE, STATUS_FILE} from '../store/status.ts';
import {inWords} from './troubles.ts';

export interface Claim {
  /** Whether the home is still ours. If somebody removed the lock (`git clean -fdx`), it is taken again. */
  renew: () => boolean;
  /** `failed`: the status file stays, and says why. */
  release: (failed: boolean) => void;
}

/** One daemon a home: take it, or say who has it. */
export function claim(disk: Disk): Claim {
  const lock = tryLockOrSay(disk, DAEMON_LOCK);
  if ('heldBy' in lock) throw taken(disk, DAEMON_LOCK, lock.heldBy);
  clearDeadLocks(disk, dirname(DAEMON_LOCK));
  lendLock(disk, DAEMON_LOCK);
  const release = (failed: boolean) => {
    if (!isOurs(disk, DAEMON_LOCK)) return;
    for (const own of [PID_FILE, ...(failed ? [] : [STATUS_FILE])]) disk.remove(own);
    disk.remove(DAEMON_LOCK);
  };
  const writePid = () => disk.write(PID_FILE, `${disk.processes.self().pid}\n`);
  try {
    // Of a daemon that is no more, perhaps with the pid this one has.
    disk.remove(STATUS_FILE);
    writePid();
  } catch (error) {
    release(false);
    throw cannotWrite(disk, PID_FILE, error as Error);
  }
  const renew = () => {
    if (isOurs(disk, DAEMON_LOCK)) return true;
    try {
      if ('heldBy' in tryLock(disk, DAEMON_LOCK)) return false;
      writePid();
    } catch {
      // The disk is full, or not to be written: nobody else can take it either.
    }
    return true;
  };
  return {renew, release};
}

function isOurs(disk: Disk, path: string): boolean {
  const holder = holderOf(disk, path);
  return holder !== undefined && holderText(holder) === holderText(disk.processes.self());
}

function taken(disk: Disk, path: string, {pid, host}: Holder): UserError {
  const gone = host === disk.processes.self().host ? '' : ` (if ${host} is gone for good: rm ${disk.root}/${path})`;
  return new UserError(
    `a daemon already serves this home: process ${pid} on ${host}`,
    exit.daemon,
    `look: agentdir status; stop it: agentdir stop${gone}`,
  );
}

function tryLockOrSay(disk: Disk, path: string): LockResult {
  try {
    return tryLock(disk, path);
  } catch (error) {
    throw cannotWrite(disk, path, error as Error);
  }
}

function cannotWrite(disk: Disk, path: string, error: Error): UserError {
  return new UserError(inWords(`${disk.root}/${path}`, error), exit.failed, 'then start again');
}
