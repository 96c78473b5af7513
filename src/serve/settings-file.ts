import type {Reconciler} from './reconciler.ts';
import type {Serving} from './serving.ts';

/** agentdir.yaml: nothing is written into it, but much follows from it. */
export function settingsFile(serving: Serving): Reconciler {
  return {
    kind: 'settings',
    accepted: () => {
      if (!serving.loading) serving.onSettings();
    },
  };
}
