import {readFileSync, readlinkSync} from 'node:fs';

/** `PF_EXITING` of Linux: the process runs its last kernel code and no program code any more. */
const EXITING = 0x4;
/** SIGKILL in the mask of pending signals. */
const KILLED = 1 << 8;

/**
 * When a process began, in clock ticks since boot. Pid and start time together name a process for good. '' if there is
 * no such process, if it has been killed (it may take the kernel seconds to remove a killed process), or if there is
 * no /proc.
 */
export function startOf(pid: number): string {
  if (pid !== process.pid && !existsProc()) return '';
  try {
    const stat = readFileSync(`/proc/${pid === process.pid ? 'self' : pid}/stat`, 'latin1');
    // The name in brackets may hold anything; the fields after it do not. Field n of proc(5) is at n - 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', flags = 0, pending = 0] = [fields[0], Number(fields[6]), Number(fields[28])];
    const isEnding = /^[ZX]/.test(state) || (flags & EXITING) !== 0 || (pending & KILLED) !== 0;
    return isEnding ? '' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

/** Whether this process of our own pid namespace lives. One that was killed does not, even if it is still exiting. */
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

/** Whether /proc shows the processes of our pid namespace, and not those of another one. */
export function existsProc(): boolean {
  try {
    proc ??= readlinkSync('/proc/self') === String(process.pid);
  } catch {
    proc = false;
  }
  return proc;
}

let namespace: string | undefined;

/** The pid namespace of this process, like `pid:[4026531836]`; '' where there are none. */
export function pidNamespace(): string {
  try {
    namespace ??= readlinkSync('/proc/self/ns/pid');
  } catch {
    namespace = '';
  }
  return namespace;
}
