import {SLOTS_FILE} from '../formats/common/key.ts';
import type {HomeFiles} from './home-files.ts';

/** So long a page that is being saved is waited for at a time. */
export const SAVED_MS = 20;

/** Look at a file although it is as it was: something that it depends on is not. `ms`: not at once, others go first. */
export function lookAgain({known, looks, queue}: HomeFiles, path: string, ms = 0): void {
  const {nudged} = looks;
  const file = known.get(path);
  if (file) file.settled = false;
  nudged.add(path);
  if (ms > 0) queue.addAfter(path, ms);
  else queue.add(path);
}

/** Look which times have come. `any`: there are schedules; if there were some, that is to be written down. */
export function lookAtSlots(files: HomeFiles, any: boolean): void {
  if (any || files.known.has(SLOTS_FILE)) lookAgain(files, SLOTS_FILE);
}
