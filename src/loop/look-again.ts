import {SLOTS_FILE} from '../formats/common/key.ts';
import type {HomeFiles} from './home-files.ts';

/** How long to wait before looking again at a page that is being saved. */
export const PAGE_SAVE_MS = 20;

/** Look at an unchanged file again, because something it depends on has changed. `ms`: wait this long, so that others go first. */
export function lookAgain({known, looks, queue}: HomeFiles, path: string, ms = 0): void {
  const {lookAgain} = looks;
  const file = known.get(path);
  if (file) file.settled = false;
  lookAgain.add(path);
  if (ms > 0) queue.addAfter(path, ms);
  else queue.add(path);
}

/** Check which scheduled times have come. `any`: there are schedules now; if there were some before, their file is updated. */
export function lookAtSlots(files: HomeFiles, any: boolean): void {
  if (any || files.known.has(SLOTS_FILE)) lookAgain(files, SLOTS_FILE);
}
