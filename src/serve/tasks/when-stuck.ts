import {blocks} from '../../files/diagnostic.ts';
import type {Cancel} from '../../store/clock.ts';
import type {Serving} from '../serving.ts';

const PATIENCE_MS = 20_000;
/** One that is to be made. */
const NEW_MS = 60_000;
const MOST_MS = 10 * 60_000;

/**
 * Tell when a file cannot be written: it has errors, or git is at work in the home. One that only many want to change is
 * waited for much longer. Call what it returns when the file was written. `where`: which file it is by then.
 */
export function whenStuck(serving: Serving, where: () => string, tell: () => void): () => void {
  let began = serving.clock.monotonic();
  let before = where();
  let cancel: Cancel;
  const look = () => {
    const path = where();
    if (path !== before) began = serving.clock.monotonic();
    before = path;
    const stuck = blocks(serving.index.problems(path)) || serving.journal.unfinished();
    const most = serving.known.has(path) ? MOST_MS : NEW_MS;
    if (stuck || serving.clock.monotonic() - began > most) tell();
    else cancel = serving.clock.after(PATIENCE_MS, look, 'held');
  };
  cancel = serving.clock.after(PATIENCE_MS, look, 'held');
  return () => cancel();
}
