import {blocks} from '../../formats/common/diagnostic.ts';
import type {Cancel} from '../../home/disk/clock.ts';
import type {HomeFiles} from '../../loop/home-files.ts';

const PATIENCE_MS = 20_000;
/** Limit for a file that does not exist yet. */
const NEW_MS = 60_000;
const MOST_MS = 10 * 60_000;

/**
 * Call `onStuck` if a file cannot be written because it has errors or git is busy in the home. A file that is only in
 * high demand gets much more time. `where` returns the current path. Call the returned function once the file is written.
 */
export function reportIfStuck(files: HomeFiles, where: () => string, onStuck: () => void): () => void {
  let began = files.disk.clock.monotonic();
  let before = where();
  let cancel: Cancel;
  const look = () => {
    const path = where();
    if (path !== before) began = files.disk.clock.monotonic();
    before = path;
    const stuck = blocks(files.index.problems(path)) || files.journal.unfinished();
    const most = files.known.has(path) ? MOST_MS : NEW_MS;
    if (stuck || files.disk.clock.monotonic() - began > most) onStuck();
    else cancel = files.disk.clock.after(PATIENCE_MS, look, 'held');
  };
  cancel = files.disk.clock.after(PATIENCE_MS, look, 'held');
  return () => cancel();
}
