import {readFileSync, readlinkSync} from 'node:fs';

/** Linux's `PF_EXITING`: the process is exiting and runs no more program code. */
const EXITING = 0x4;
/** SIGKILL in the mask of pending signals. */
const KILLED = 1 << 8;

/**
 * The start time of a process, in clock ticks since boot. Pid and start time together identify a process. '' if there is no such process,
 * if it has been killed (the kernel may take seconds to remove it), or if there is no /proc.
 */
export function startOf(pid: number): string {
  if (pid !== process.pid && !existsProc()) return '';
  try {
    const stat = readFileSync(`/proc/${pid === process.pid ? 'self' : pid}/stat`, 'latin1');
    // The process name in brackets may contain anything, so parse the fields after it. Field n of proc(5) is at n - 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', flags = 0, pending = 0] = [fields[0], Number(fields[6]), Number(fields[28])];
    const isEnding = /^[ZX]/.test(state) || (flags & EXITING) !== 0 || (pending & KILLED) !== 0;
    return isEnding ? '' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

/** Whether a process of this pid namespace runs. False for a killed process, even if it is still exiting. */
export function isAlive(pid: number, start: string): boolean {
  const now = startOf(pid);
  if (now !== '' || existsProc()) return now !== '' && (start === '' || now === start);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

let proc: boolean | undefined;

/** Whether /proc exists and shows the processes of this pid namespace. */
export function existsProc(): boolean {
  try {
    proc ??= readlinkSync('/proc/self') === String(process.pid);
  } catch {
    proc = false;
  }
  return proc;
}

let namespace: string | undefined;

/** The pid namespace of this process, like `pid:[4026531836]`. '' if the system has none. */
export function pidNamespace(): string {
  try {
    namespace ??= readlinkSync('/proc/self/ns/pid');
  } catch {
    namespace = '';
  }
  return namespace;
}
