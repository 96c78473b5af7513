import {noticesOf} from '../agents/world/notices.ts';
import {untilSignal} from '../agents/world/signals.ts';
import type {World} from '../agents/world/world.ts';
import {withLocalOllama} from '../effects/model/ollama.ts';
import {nodeDisk} from '../home/disk/disk.ts';
import {systemRandom} from '../home/disk/random.ts';
import {systemGit} from '../home/home-git.ts';
import {lazySandbox} from './confinement.ts';
import {startWorkflow} from './start-workflow.ts';

/** The real world: this machine, with the home at this absolute path. */
export async function systemWorld(home: string): Promise<World> {
  return {
    disk: nodeDisk(home),
    random: systemRandom,
    git: systemGit(home),
    sandbox: lazySandbox(home),
    environment: await withLocalOllama(process.env),
    startWorkflow: wanted => startWorkflow(home, wanted),
    notices: () => noticesOf(home),
    untilStopped: untilSignal,
  };
}
