import type {Models} from '../../effects/model/models.ts';
import type {Sandbox} from '../../effects/sandbox/sandbox.ts';
import type {ToolProvider} from '../../effects/tools/provider.ts';
import type {Disk} from '../../home/disk/disk.ts';
import type {Random} from '../../home/disk/random.ts';
import type {HomeGit} from '../../home/home-git.ts';
import type {CallEffects} from './effects.ts';
import type {Notice} from './notices.ts';
import type {StopRequest} from './signals.ts';

/** Everything outside of the daemon that it reads, changes or waits for. The simulator has a world of its own. */
export interface World {
  /** The home, with the clock and the process that use it. */
  disk: Disk;
  random: Random;
  git: HomeGit;
  sandbox: Sandbox;
  /** Who answers; by default what the settings name, loaded with the first question. */
  models?: Pick<Models, 'ask'> | undefined;
  /** What agents can call; by default the tools of this program. */
  tools?: ToolProvider | undefined;
  /** What calls do besides; by default what they do on this machine. */
  effects?: CallEffects | undefined;
  environment: NodeJS.ProcessEnv;
  /** What is unusual about this machine and the repository. */
  notices: () => Promise<Notice[]>;
  untilStopped: () => StopRequest;
}
