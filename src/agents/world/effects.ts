import {endLeftovers} from '../../effects/sandbox/leftovers.ts';
import {tidyAfter} from '../../effects/tools/prepare-call.ts';
import {commitCall, keepFound, openWorkspace} from '../../effects/workspace/repository.ts';

/** What calls of agents do outside of the home's own files: commands, workspaces, other people. */
export type CallEffects = typeof systemEffects;

const systemEffects = {tidyAfter, endLeftovers, openWorkspace, keepFound, commitCall};

/** Those of the world, or of this machine. */
export function effectsOf({effects}: {effects?: CallEffects | undefined}): CallEffects {
  return effects ?? systemEffects;
}
