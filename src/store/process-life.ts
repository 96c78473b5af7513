import {readFileSync} from 'node:fs';

/** When a process began, in clock ticks since boot: with its id, it names a process for good. '' where nobody tells. */
export function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in brackets may hold anything; the fields after it do not.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Killed, and only its parent has not looked yet.
    return fields[0] === 'Z' || fields[0] === 'X' ? '' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

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
export function existsProc(): boolean {
  proc ??= startOf(process.pid) !== '';
  return proc;
}
