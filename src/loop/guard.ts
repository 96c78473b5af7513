import type {FileSnapshot} from './file-snapshot.ts';
import type {LookOutcome} from './queue.ts';

/**
 * Lets only people change files that decide what agents may do. The loop asks the guard before it accepts a version.
 */
export interface Guard {
  /** Why a change of this file is void. Undefined: the change counts. */
  whyVoid(path: string): string | undefined;
  /** Restore the last accepted version and keep the change in conflicts/. `seen` is undefined if the file is gone. */
  takeBack(path: string, seen: FileSnapshot | undefined, why: string): Promise<LookOutcome>;
  /** Replace a hard-linked file with a copy: an agent may be able to write to it under its other name. */
  cutLinks(seen: FileSnapshot): Promise<LookOutcome>;
  /** The file is unchanged, or its change counts. */
  unchanged(path: string): void;
  /** The file was changed while no daemon ran. `before`: the blob id of its earlier version. */
  changedBeforeStart(path: string, before: string | undefined): void;
}

/** The guard until the real one is loaded: every change counts. */
export const allowAllGuard: Guard = {
  whyVoid: () => undefined,
  takeBack: async () => undefined,
  cutLinks: async () => undefined,
  unchanged: () => {},
  changedBeforeStart: () => {},
};
