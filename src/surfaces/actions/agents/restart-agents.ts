import {nodeDisk} from '../../../home/disk/disk.ts';
import {liveSessions, readLive} from '../../../home/live-read.ts';
import {daemonOf} from '../../../home/status.ts';
import {startAgents, stopAgents} from './holds.ts';

/** A turn ends at once, unless the daemon hangs. */
const END_MS = 5_000;
const LOOK_MS = 40;
/** How long the daemon may take to see that an agent without a turn was stopped. */
const SEEN_MS = 300;

/** Stops agents, waits until their turns have ended, and starts them again. */
export async function restartAgents(home: string, agents: readonly string[]): Promise<void> {
  await stopAgents(home, agents, 'restart');
  if (daemonOf(nodeDisk(home))) {
    const end = performance.now() + END_MS;
    await pause(SEEN_MS);
    while (performance.now() < end && isAnswering(home, agents)) await pause(LOOK_MS);
  }
  await startAgents(home, agents);
}

function isAnswering(home: string, agents: readonly string[]): boolean {
  return liveSessions(home).some(id => {
    const last = readLive(home, id).at(-1);
    return last !== undefined && last.event !== 'end' && agents.includes(last.agent);
  });
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}
