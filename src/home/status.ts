import {join} from 'node:path';
import type {Waiting} from '../formats/waiting.ts';
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
  /** What waits for a person or is wrong, by kind. Absent in the status of an earlier version. */
  waiting?: Waiting;
  /** Where the last line of each inbox went. */
  delivered?: Readonly<Record<string, InboxDelivery>>;
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

/** Where a line of an inbox went: `from` is its file and line, such as `inbox/slack.jsonl#7`. */
export interface InboxDelivery {
  from: string;
  session: string;
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
