import {rmSync, writeFileSync} from 'node:fs';
import {dirname} from 'node:path';
import {exit, UserError} from '../errors.ts';
import {clearDeadLocks, type LockResult, tryLock} from '../store/lock.ts';
import {daemonLock, pidPath, statusPath} from '../store/status.ts';
import {inWords} from './troubles.ts';

/** One daemon a home: take it, or say who has it. Returns how to let go of it. */
export function claim(home: string): () => void {
  const lock = tryLockOrSay(daemonLock(home));
  if ('heldBy' in lock) {
    const {pid, host} = lock.heldBy;
    throw new UserError(
      `a daemon already serves this home: process ${pid} on ${host}`,
      exit.daemon,
      `look: agentdir status; stop it: agentdir stop (if ${host} is gone for good: rm ${daemonLock(home)})`,
    );
  }
  clearDeadLocks(dirname(daemonLock(home)));
  const letGo = () => {
    for (const path of [pidPath(home), statusPath(home)]) rmSync(path, {force: true});
    lock.release();
  };
  try {
    writeFileSync(pidPath(home), `${process.pid}\n`);
  } catch (error) {
    letGo();
    throw cannotWrite(pidPath(home), error as Error);
  }
  return letGo;
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
