import {blocks} from '../../formats/common/diagnostic.ts';
import type {Cancel} from '../../home/disk/clock.ts';
import type {HomeFiles} from '../../loop/home-files.ts';

const PATIENCE_MS = 20_000;
/** One that is to be made. */
const NEW_MS = 60_000;
const MOST_MS = 10 * 60_000;

/**
 * Tell when a file cannot be written: it has errors, or git is at work in the home. One that only many want to change is
 * waited for much longer. Call what it returns when the file was written. `where`: which file it is by then.
 */
export function reportIfStuck(files: HomeFiles, where: () => string, tell: () => void): () => void {
  let began = files.disk.clock.monotonic();
  let before = where();
  let cancel: Cancel;
  const look = () => {
    const path = where();
    if (path !== before) began = files.disk.clock.monotonic();
    before = path;
    const stuck = blocks(files.index.problems(path)) || files.journal.unfinished();
    const most = files.known.has(path) ? MOST_MS : NEW_MS;
    if (stuck || files.disk.clock.monotonic() - began > most) tell();
    else cancel = files.disk.clock.after(PATIENCE_MS, look, 'held');
  };
  cancel = files.disk.clock.after(PATIENCE_MS, look, 'held');
  return () => cancel();
}
