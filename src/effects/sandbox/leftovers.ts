import {setTimeout as pause} from 'node:timers/promises';
import {markedProcesses, sandboxedAs, signal} from './processes.ts';

/** Not for ever: a process in an uninterruptible wait does not die even of SIGKILL. */
const rounds = 200;

/**
 * Kill whatever still runs of this mark; resolves when nothing does, with how many there were. Throws if it cannot be
 * known whether anything runs, because file descriptors are short. Where there is no /proc nothing is found; on the host
 * neither is what left its session and its environment.
 */
export async function endLeftovers(mark: string, find = everywhere): Promise<number> {
  const ended = new Set<number>();
  // One that was just made, or is becoming another program, may not be seen at the first look.
  let looks = 0;
  let problem: unknown;
  for (let round = 0; round < rounds && looks < 2; round++) {
    try {
      const alive = await find(mark);
      problem = undefined;
      looks = alive.length === 0 ? looks + 1 : 0;
      for (const pid of alive) {
        ended.add(pid);
        signal(pid, 'SIGKILL');
      }
    } catch (error) {
      problem = error;
      looks = 0;
    }
    await pause(Math.min(round + 1, 50));
  }
  if (problem) throw new Error('cannot look for processes that are left of a command', {cause: problem});
  return ended.size;
}

/** In the sandbox and on the host. */
async function everywhere(mark: string): Promise<number[]> {
  return [...new Set([...(await markedProcesses(mark)), ...(await sandboxedAs(mark))])];
}
