import {join} from 'node:path';
import type {Disk} from './disk/disk.ts';
import type {Holder} from './disk/holder.ts';
import {livingHolder} from './disk/lock.ts';

/** What the daemon last said of itself and the home: derived, in .agentdir/, for `agentdir status`. */
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
  /** What waits for a person besides problems: approvals, tasks, sessions in error. */
  needs: number;
  /** Of these, approvals to decide. */
  approvals: number;
  troubles: readonly {what: string; since: string}[];
  /** Which model answers by default, in words. */
  model?: string | undefined;
  /** How commands are confined, in words. */
  sandbox?: string | undefined;
  /** A command that runs outside the sandbox: what is decided meanwhile does not count. */
  unconfined?: string | undefined;
  /** Whether changes are seen at once, or by scanning only. */
  watching: boolean;
  /** Why it stopped by itself, and when. */
  stopped?: {why: string; at: string};
}

export const DAEMON_LOCK = '.agentdir/locks/daemon';
export const PID_FILE = '.agentdir/daemon.pid';
export const STATUS_FILE = '.agentdir/status.json';
export const logPath = (home: string) => join(home, '.agentdir/daemon.log');

/** The daemon that serves this home, if one does. */
export function daemonOf(disk: Disk): Holder | undefined {
  return livingHolder(disk, DAEMON_LOCK);
}

/** Why the last daemon stopped by itself, if it did and none has served since. */
export function lastStop(disk: Disk): DaemonStatus['stopped'] {
  try {
    return (JSON.parse(disk.read(STATUS_FILE).toString()) as DaemonStatus).stopped;
  } catch {
    return undefined;
  }
}

/** Undefined if it is missing, or of a daemon that is no more. */
export function readStatus(disk: Disk): DaemonStatus | undefined {
  try {
    const status = JSON.parse(disk.read(STATUS_FILE).toString()) as DaemonStatus;
    return status.pid === daemonOf(disk)?.pid ? status : undefined;
  } catch {
    return undefined;
  }
}
