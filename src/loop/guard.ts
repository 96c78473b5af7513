import type {FileSnapshot} from './file-snapshot.ts';
import type {LookOutcome} from './queue.ts';

/**
 * Keeps files that decide what agents may do from being changed by anybody but a person. The loop asks it before it accepts a version.
 */
export interface Guard {
  /** Why a change of this file does not count. Undefined: it counts. */
  whyVoid(path: string): string | undefined;
  /** Give the file back its last accepted version and keep the change in conflicts/. `seen`: undefined if the file is gone. */
  takeBack(path: string, seen: FileSnapshot | undefined, why: string): Promise<LookOutcome>;
  /** Make a file that has several names a file of its own: an agent may be able to write under another name. */
  cutLinks(seen: FileSnapshot): Promise<LookOutcome>;
  /** The file is as it was, or its change counts. */
  unchanged(path: string): void;
  /** The file was changed while no daemon ran. `before`: git's name for its version before that. */
  changedBeforeStart(path: string, before: string | undefined): void;
}

/** The guard before the first look: every change counts. */
export const allowAllGuard: Guard = {
  whyVoid: () => undefined,
  takeBack: async () => undefined,
  cutLinks: async () => undefined,
  unchanged: () => {},
  changedBeforeStart: () => {},
};
