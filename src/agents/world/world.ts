import type {Models} from '../../effects/model/models.ts';
import type {Sandbox} from '../../effects/sandbox/sandbox.ts';
import type {ToolProvider} from '../../effects/tools/provider.ts';
import type {Disk} from '../../home/disk/disk.ts';
import type {Random} from '../../home/disk/random.ts';
import type {HomeGit} from '../../home/home-git.ts';
import type {CallEffects} from './effects.ts';
import type {Notice} from './notices.ts';
import type {StopRequest} from './signals.ts';

/** A workflow that a schedule starts. */
export interface WantedWorkflow {
  workflow: string;
  instance: string;
  params: Readonly<Record<string, string | number | boolean>>;
}

/** `again`: it could not begin now, and may be tried again. */
export type WorkflowStart = {started: true} | {failed: string; again?: true};

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
  /** Starts a workflow of the home as a new instance, as `agentdir start` does. Must not throw. Undefined: this world cannot. */
  startWorkflow?: ((wanted: WantedWorkflow) => Promise<WorkflowStart>) | undefined;
  /** Notices about this machine and the repository. */
  notices: () => Promise<Notice[]>;
  untilStopped: () => StopRequest;
}
