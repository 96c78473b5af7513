import {endLeftovers} from '../effects/sandbox/leftovers.ts';
import {prepare, tidyAfter} from '../effects/tools/prepare-call.ts';
import {commitCall, keepFound, openWorkspace} from '../effects/workspace/repository.ts';

/** What calls of agents do outside of the home's own files: commands, workspaces, other people. */
export type Effects = typeof systemEffects;

const systemEffects = {prepare, tidyAfter, endLeftovers, openWorkspace, keepFound, commitCall};

export function effectsOf({world}: {world: {effects?: Effects | undefined}}): Effects {
  return world.effects ?? systemEffects;
}
