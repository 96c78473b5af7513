import type {Models} from '../../effects/model/models.ts';
import type {Sandbox} from '../../effects/sandbox/sandbox.ts';
import type {ToolProvider} from '../../effects/tools/provider.ts';
import type {Disk} from '../../home/disk/disk.ts';
import type {Random} from '../../home/disk/random.ts';
import type {HomeGit} from '../../home/home-git.ts';
import type {CallEffects} from './effects.ts';
import type {Notice} from './notices.ts';
import type {StopRequest} from './signals.ts';

/** Everything outside the daemon that it reads, changes or waits for. The simulator implements its own. */
export interface World {
  /** The home, its clock and its process. */
  disk: Disk;
  random: Random;
  git: HomeGit;
  sandbox: Sandbox;
  /** Default: the models in the settings, loaded with the first question. */
  models?: Pick<Models, 'ask'> | undefined;
  /** Default: the built-in tools. */
  tools?: ToolProvider | undefined;
  /** Default: the effects on this machine. */
  effects?: CallEffects | undefined;
  environment: NodeJS.ProcessEnv;
  /** Notices about this machine and the repository. */
  notices: () => Promise<Notice[]>;
  untilStopped: () => StopRequest;
}
