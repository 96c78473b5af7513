import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {type Holder, isHolding} from './holder.ts';
import {holderOf} from './lock.ts';

/** What the daemon last said of itself and the home: derived, in .agentdir/, for `agentdir status`. */
export interface Status {
  pid: number;
  since: string;
  version: string;
  home: string;
  agents: number;
  tasks: number;
  /** Sessions by status. */
  sessions: Record<string, number>;
  errors: number;
  warnings: number;
  /** What waits for a person besides problems: approvals, tasks, sessions in error. */
  needs: number;
  troubles: readonly {what: string; since: string}[];
  /** Whether changes are seen at once, or by scanning only. */
  watching: boolean;
}

export const daemonLock = (home: string) => join(home, '.agentdir/locks/daemon');
export const pidPath = (home: string) => join(home, '.agentdir/daemon.pid');
export const logPath = (home: string) => join(home, '.agentdir/daemon.log');
export const statusPath = (home: string) => join(home, '.agentdir/status.json');

/** The daemon that serves this home, if one does. */
export function daemonOf(home: string): Holder | undefined {
  const holder = holderOf(daemonLock(home));
  return holder && isHolding(holder) ? holder : undefined;
}

/** Undefined if it is missing, or of a daemon that is no more. */
export function readStatus(home: string): Status | undefined {
  try {
    const status = JSON.parse(readFileSync(statusPath(home), 'utf8')) as Status;
    return status.pid === daemonOf(home)?.pid ? status : undefined;
  } catch {
    return undefined;
  }
}
