import type {With} from '../agents/state/parts.ts';
import type {Reconciler} from '../loop/reconciler.ts';

/** Applies changes of agentdir.yaml. Never writes it. */
export function settingsReconciler(daemon: With<'files' | 'inboxes' | 'status'>): Reconciler {
  return {
    kind: 'settings',
    accepted: () => {
      const {files, inboxes, status} = daemon;
      if (files.phase.loading) return;
      void inboxes.schedules.tick();
      for (const path of inboxes.waiting()) files.queue.add(path);
      status.announce();
    },
  };
}
