import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import type {Holder} from './holder.ts';
import {livingHolder} from './lock.ts';

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

export const daemonLock = (home: string) => join(home, '.agentdir/locks/daemon');
export const pidPath = (home: string) => join(home, '.agentdir/daemon.pid');
export const logPath = (home: string) => join(home, '.agentdir/daemon.log');
export const statusPath = (home: string) => join(home, '.agentdir/status.json');

/** The daemon that serves this home, if one does. */
export function daemonOf(home: string): Holder | undefined {
  return livingHolder(daemonLock(home));
}

/** Why the last daemon stopped by itself, if it did and none has served since. */
export function lastStop(home: string): Status['stopped'] {
  try {
    return (JSON.parse(readFileSync(statusPath(home), 'utf8')) as Status).stopped;
  } catch {
    return undefined;
  }
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
