import {SLOTS_FILE} from '../files/key.ts';
import type {Serving} from './serving.ts';

/** So long a page that is being saved is waited for at a time. */
export const SAVED_MS = 20;

/** Look at a file although it is as it was: something that it depends on is not. `ms`: not at once, others go first. */
export function lookAgain({known, nudged, queue}: Serving, path: string, ms = 0): void {
  const file = known.get(path);
  if (file) file.settled = false;
  nudged.add(path);
  if (ms > 0) queue.addAfter(path, ms);
  else queue.add(path);
}

/** Look which times have come. `any`: there are schedules; if there were some, that is to be written down. */
export function lookAtSlots(serving: Serving, any: boolean): void {
  if (any || serving.known.has(SLOTS_FILE)) lookAgain(serving, SLOTS_FILE);
}
