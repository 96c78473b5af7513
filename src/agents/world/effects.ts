import {endLeftovers} from '../../effects/sandbox/leftovers.ts';
import {tidyAfter} from '../../effects/tools/prepare-call.ts';
import {commitCall, keepFound, openWorkspace} from '../../effects/workspace/repository.ts';
import {wholeState} from '../../effects/workspace/whole-state.ts';

/** Side effects of calls outside the home's own files: commands and workspaces. */
export type CallEffects = typeof systemEffects;

const systemEffects = {tidyAfter, endLeftovers, openWorkspace, keepFound, commitCall, wholeState};

/** The effects of a simulated world, or of this machine. */
export function effectsOf({effects}: {effects?: CallEffects | undefined}): CallEffects {
  return effects ?? systemEffects;
}
