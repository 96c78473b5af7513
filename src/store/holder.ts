import {readFileSync} from 'node:fs';
import {hostname} from 'node:os';
import {isAlive, startOf} from './process-life.ts';

/** Who holds a lock. A pid alone is not enough: pids are used again, and a reused one made other tools wait for ever. */
export interface Holder {
  pid: number;
  /** When the process began, in the kernel's ticks since boot; '' where that cannot be known. */
  began: string;
  boot: string;
  host: string;
}

/** Who holds locks and writes temporary files: this process, and whether others still live. */
export interface Processes {
  self: () => Holder;
  /** Must not throw. */
  isHolding: (holder: Holder) => boolean;
  isAlive: (pid: number, began: string) => boolean;
}

export const systemProcesses: Processes = {self: thisProcess, isHolding, isAlive};

let own: Holder | undefined;

export function thisProcess(): Holder {
  own ??= {pid: process.pid, began: startOf(process.pid), boot: bootId(), host: hostname()};
  return own;
}

/** Must not throw. A holder on another machine cannot be seen and counts as alive. */
export function isHolding(holder: Holder): boolean {
  if (holder.host !== hostname()) return true;
  return holder.boot === bootId() && isAlive(holder.pid, holder.began);
}

let boot: string | undefined;

function bootId(): string {
  try {
    boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    boot = '';
  }
  return boot;
}

/** The text of a lock file: the pid first, for people and for `kill $(head -1 …)`. */
export function holderText(holder: Holder): string {
  return `${holder.pid}\nbegan: ${holder.began}\nboot: ${holder.boot}\nhost: ${holder.host}\n`;
}

/** Undefined: not a lock file of ours, or one that is just being written. */
export function parseHolder(text: string): Holder | undefined {
  const match = /^(\d+)\nbegan: (.*)\nboot: (.*)\nhost: (.*)\n$/.exec(text);
  return match ? {pid: Number(match[1]), began: match[2] ?? '', boot: match[3] ?? '', host: match[4] ?? ''} : undefined;
}
