import {rmSync, writeFileSync} from 'node:fs';
import {dirname} from 'node:path';
import {exit, UserError} from '../errors.ts';
import {type Holder, holderText, thisProcess} from '../store/holder.ts';
import {clearDeadLocks, holderOf, type LockResult, lendLock, tryLock} from '../store/lock.ts';
import {daemonLock, pidPath, statusPath} from '../store/status.ts';
import {inWords} from './troubles.ts';

export interface Claim {
  /** Whether the home is still ours. If somebody removed the lock (`git clean -fdx`), it is taken again. */
  renew: () => boolean;
  /** `failed`: the status file stays, and says why. */
  release: (failed: boolean) => void;
}

/** One daemon a home: take it, or say who has it. */
export function claim(home: string): Claim {
  const path = daemonLock(home);
  const lock = tryLockOrSay(path);
  if ('heldBy' in lock) throw taken(path, lock.heldBy);
  clearDeadLocks(dirname(path));
  lendLock(path);
  const release = (failed: boolean) => {
    if (!isOurs(path)) return;
    for (const own of [pidPath(home), ...(failed ? [] : [statusPath(home)])]) rmSync(own, {force: true});
    rmSync(path, {force: true});
  };
  const writePid = () => writeFileSync(pidPath(home), `${process.pid}\n`);
  try {
    // Of a daemon that is no more, perhaps with the pid this one has.
    rmSync(statusPath(home), {force: true});
    writePid();
  } catch (error) {
    release(false);
    throw cannotWrite(pidPath(home), error as Error);
  }
  const renew = () => {
    if (isOurs(path)) return true;
    try {
      if ('heldBy' in tryLock(path)) return false;
      writePid();
    } catch {
      // The disk is full, or not to be written: nobody else can take it either.
    }
    return true;
  };
  return {renew, release};
}

function isOurs(path: string): boolean {
  const holder = holderOf(path);
  return holder !== undefined && holderText(holder) === holderText(thisProcess());
}

function taken(path: string, {pid, host}: Holder): UserError {
  const gone = host === thisProcess().host ? '' : ` (if ${host} is gone for good: rm ${path})`;
  return new UserError(
    `a daemon already serves this home: process ${pid} on ${host}`,
    exit.daemon,
    `look: agentdir status; stop it: agentdir stop${gone}`,
  );
}

function tryLockOrSay(path: string): LockResult {
  try {
    return tryLock(path);
  } catch (error) {
    throw cannotWrite(path, error as Error);
  }
}

function cannotWrite(path: string, error: Error): UserError {
  return new UserError(inWords(path, error), exit.failed, 'then start again');
}
