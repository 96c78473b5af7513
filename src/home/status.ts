import {join} from 'node:path';
import type {Disk} from './disk/disk.ts';
import type {Holder} from './disk/holder.ts';
import {livingHolder} from './disk/lock.ts';

/** The daemon's status file in .agentdir/, for `agentdir status`. */
export interface DaemonStatus {
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
  /** How many approvals, tasks and failed sessions wait for a person. */
  needs: number;
  /** How many of `needs` are approvals. */
  approvals: number;
  troubles: readonly {what: string; since: string}[];
  /** Text: the default model. */
  model?: string | undefined;
  /** Text: how commands are confined. */
  sandbox?: string | undefined;
  /** A command that runs outside the sandbox. Approval decisions made meanwhile are void. */
  unconfined?: string | undefined;
  /** False: changes are found by scanning only. */
  watching: boolean;
  /** Why and when the daemon stopped by itself. */
  stopped?: {why: string; at: string};
}

export const DAEMON_LOCK = '.agentdir/locks/daemon';
export const PID_FILE = '.agentdir/daemon.pid';
export const STATUS_FILE = '.agentdir/status.json';
export const logPath = (home: string) => join(home, '.agentdir/daemon.log');

/** The running daemon of this home. */
export function daemonOf(disk: Disk): Holder | undefined {
  return livingHolder(disk, DAEMON_LOCK);
}

/** What the last daemon wrote, whether it runs or not. */
export function lastStatus(disk: Disk): DaemonStatus | undefined {
  try {
    return JSON.parse(disk.read(STATUS_FILE).toString()) as DaemonStatus;
  } catch {
    return undefined;
  }
}

/** Why the last daemon stopped by itself. Undefined if it did not, or if another has served since. */
export function lastStop(disk: Disk): DaemonStatus['stopped'] {
  return lastStatus(disk)?.stopped;
}

/** The status of the running daemon. */
export function readStatus(disk: Disk): DaemonStatus | undefined {
  const status = lastStatus(disk);
  return status && status.pid === daemonOf(disk)?.pid ? status : undefined;
}
