import {closeSync, openSync, readFileSync, statSync} from 'node:fs';
import {hostname} from 'node:os';
import {isKernelLocked, lockOpenFile} from './kernel-lock.ts';
import {existsProc, isAlive, pidNamespace, startOf} from './process-life.ts';

/** The process that holds a lock. A pid alone is not enough: pids are reused, and each container has a process 1. */
export interface Holder {
  pid: number;
  /** The start time of the process, in clock ticks since boot. '' if unknown. */
  began: string;
  /** The boot id of the kernel. '' if unknown. */
  boot: string;
  host: string;
  /** The pid namespace of `pid`. '' if the system has none, and in lock files of older versions. */
  namespace?: string;
  /** The process also holds a kernel lock on the lock file, which ends with the process. */
  kernelLocked?: boolean;
}

/** Identifies this process and tells whether others still run. */
export interface Processes {
  self: () => Holder;
  /** Whether this holder of the lock file at the absolute `path` still runs. Must not throw. */
  isHolding: (holder: Holder, path: string) => boolean;
  /** Undefined: the process is not visible from here. Must not throw. */
  isRunning?: (holder: Holder) => boolean | undefined;
  isAlive: (pid: number, began: string) => boolean;
  /** Take a kernel lock on the file at the absolute `path`. Returns the function that releases it. Undefined: not supported. */
  lockFile?: (path: string) => (() => void) | undefined;
}

export const systemProcesses: Processes = {self: thisProcess, isHolding, isRunning, isAlive, lockFile};

let own: Holder | undefined;

export function thisProcess(): Holder {
  own ??= {
    pid: process.pid,
    began: startOf(process.pid),
    boot: bootId(),
    host: hostname(),
    namespace: pidNamespace(),
    kernelLocked: false,
  };
  return own;
}

/** If its holder is not visible, a lock file that was not touched for this long counts as abandoned. */
const UNSEEN_MS = 60_000;

/**
 * Whether this holder of the lock file still runs. The pid of a process in another container (pid namespace) means nothing here, so ask
 * the kernel whether the file is locked. Without a kernel lock, the holder counts as running until the file is a minute old; holders of
 * `life` locks touch their file. A holder on another machine counts as running.
 */
function isHolding(holder: Holder, path: string): boolean {
  const running = isRunning(holder);
  if (running !== undefined) return running;
  if (holder.boot !== thisProcess().boot || !holder.namespace) return true;
  const locked = holder.kernelLocked ? isKernelLocked(path) : undefined;
  return locked ?? Date.now() - modifiedAt(path) < UNSEEN_MS;
}

function modifiedAt(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function lockFile(path: string): (() => void) | undefined {
  const fd = openSync(path, 'r+');
  if (lockOpenFile(fd)) return () => closeSync(fd);
  closeSync(fd);
  return undefined;
}

/** Whether the holder's process runs. Undefined: not visible from here. Must not throw. */
export function isRunning({pid, began, boot, host, namespace, kernelLocked}: Holder): boolean | undefined {
  const own = thisProcess();
  // Another machine, or this machine before its last boot.
  if (boot !== own.boot) return host === own.host ? false : undefined;
  if (boot === '' || !namespace) return host === own.host ? isAlive(pid, began) : undefined;
  if (namespace !== own.namespace || (kernelLocked && !existsProc())) return undefined;
  return isAlive(pid, began);
}

export function isSameProcess(one: Holder, other: Holder): boolean {
  return holderText({...one, kernelLocked: false}) === holderText({...other, kernelLocked: false});
}

let known: string | undefined;

function bootId(): string {
  try {
    known ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    known = '';
  }
  return known;
}

/** The text of a lock file: the pid first, for people and for `kill $(head -1 …)`. */
export function holderText({pid, began, boot, host, namespace, kernelLocked}: Holder): string {
  const held = !namespace ? '' : `namespace: ${namespace}\nkernel-locked: ${kernelLocked ? 'yes' : 'no'}\n`;
  return `${pid}\nbegan: ${began}\nboot: ${boot}\nhost: ${host}\n${held}`;
}

const TEXT = /^(\d+)\nbegan: (.*)\nboot: (.*)\nhost: (.*)\n(?:namespace: (.+)\nkernel-locked: (yes|no)\n)?$/;

/** Undefined: not a lock file of agentdir, or one that is being written. */
export function parseHolder(text: string): Holder | undefined {
  const match = TEXT.exec(text);
  if (!match) return undefined;
  const [, pid, began = '', boot = '', host = '', namespace = '', kernelLocked] = match;
  return {pid: Number(pid), began, boot, host, namespace, kernelLocked: kernelLocked === 'yes'};
}
