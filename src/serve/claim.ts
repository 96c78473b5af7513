import {rmSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {exit, UserError} from '../errors.ts';
import {type Holder, isRunning, isSameProcess, thisProcess} from '../store/holder.ts';
import {clearDeadLocks, holderOf, type LockResult, lendLock, tryLock} from '../store/lock.ts';
import {daemonLock, pidPath, statusPath} from '../store/status.ts';
import {inWords} from './troubles.ts';

export interface Claim {
  /** Whether the home is still ours. If somebody removed the lock (`git clean -fdx`), it is taken again. */
  renew: () => boolean;
  /** Whether the home was moved or deleted. Nothing may be written to its old path then. */
  isHomeGone: () => boolean;
  /** `failed`: the status file stays, and says why. */
  release: (failed: boolean) => void;
}

/** A killed process takes a moment to end. From another container it cannot be seen that it is about to. */
const ENDING_MS = 50;
const UNSEEN_ENDING_MS = 1_000;
const LOOK_MS = 25;

/** One daemon for each home: take the home, or say who serves it. */
export async function claim(home: string): Promise<Claim> {
  const path = daemonLock(home);
  let lock = await takeOrSay(path);
  clearDeadLocks(dirname(path));
  lendLock(path);
  const release = (failed: boolean) => {
    if (isOurs(path))
      for (const own of [pidPath(home), ...(failed ? [] : [statusPath(home)])]) rmSync(own, {force: true});
    lock.release();
  };
  const writePid = () => writeFileSync(pidPath(home), `${process.pid}\n`);
  try {
    // Of an earlier daemon, perhaps with the pid of this one.
    rmSync(statusPath(home), {force: true});
    writePid();
  } catch (error) {
    release(false);
    throw cannotWrite(pidPath(home), error as Error);
  }
  const renew = () => {
    if (isOurs(path)) return true;
    try {
      lock.release();
      const again = tryLock(path, 'life');
      if ('heldBy' in again) return false;
      lock = again;
      writePid();
    } catch {
      // The disk is full, or not to be written: nobody else can take it either.
    }
    return true;
  };
  return {renew, isHomeGone: watchIdentity(home), release};
}

/**
 * Says whether the folder at this path is no longer the home that is served. A folder that has neither its settings nor
 * our lock is being deleted.
 */
function watchIdentity(home: string): () => boolean {
  const identity = identityOf(home);
  return () => {
    try {
      if (identityOf(home) !== identity) return true;
      return !exists(join(home, 'agentdir.yaml')) && !exists(daemonLock(home));
    } catch {
      // A folder above it may not be entered: the home may well be there.
      return false;
    }
  };
}

/** '' if there is no such folder. */
function identityOf(folder: string): string {
  const stat = statSync(folder, {bigint: true, throwIfNoEntry: false});
  return stat ? `${stat.dev}.${stat.ino}` : '';
}

function exists(path: string): boolean {
  return statSync(path, {throwIfNoEntry: false}) !== undefined;
}

function isOurs(path: string): boolean {
  const holder = holderOf(path);
  return holder !== undefined && isSameProcess(holder, thisProcess());
}

async function takeOrSay(path: string): Promise<Exclude<LockResult, {heldBy: Holder}>> {
  const begun = performance.now();
  for (;;) {
    const lock = tryLockOrSay(path);
    if ('release' in lock) return lock;
    const {heldBy} = lock;
    const patience = isRunning(heldBy) === undefined ? UNSEEN_ENDING_MS : ENDING_MS;
    if (performance.now() - begun > patience) throw taken(path, heldBy);
    await pause(LOOK_MS);
  }
}

function taken(path: string, holder: Holder): UserError {
  const {pid, host} = holder;
  const unseen = isRunning(holder) === undefined;
  const gone = unseen ? ` (if ${host} is gone for good: rm ${path})` : '';
  return new UserError(
    `a daemon already serves this home: process ${pid} on ${host}${unseen ? ', in another container or machine' : ''}`,
    exit.daemon,
    `look: agentdir status; stop it: agentdir stop${gone}`,
  );
}

function tryLockOrSay(path: string): LockResult {
  try {
    return tryLock(path, 'life');
  } catch (error) {
    throw cannotWrite(path, error as Error);
  }
}

function cannotWrite(path: string, error: Error): UserError {
  return Object.assign(new UserError(inWords(path, error), exit.failed, 'then start again'), {cause: error});
}
