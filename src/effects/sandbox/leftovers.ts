import {setTimeout as pause} from 'node:timers/promises';
import {abandonedMembers} from './control-groups.ts';
import {markedProcesses, sandboxedAs, signal} from './processes.ts';

/** Bounded, because a process in an uninterruptible wait survives even SIGKILL. */
const rounds = 200;

/**
 * Kill all processes with this mark. Resolves with their number once none is left. Throws if some are left
 * after many rounds, or if a shortage of file descriptors prevents looking. Finds nothing without /proc; on the host it misses processes that left both their
 * session and their environment.
 */
export async function endLeftovers(mark: string, find = findAll): Promise<number> {
  const ended = new Set<number>();
  // A process that just forked or is calling exec may be missed at first; look twice.
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
  if (looks < 2) throw new Error('processes that are left of a command cannot be killed');
  return ended.size;
}

async function findAll(mark: string): Promise<number[]> {
  return [...new Set([...abandonedMembers(mark), ...(await markedProcesses(mark)), ...(await sandboxedAs(mark))])];
}
