import {watch} from 'chokidar';
import {folders, kindOf} from '../files/key.ts';
import {MARKER} from './locate.ts';

/** Call `hint` whenever something in the home may have changed. An event says only that it is worth a look. */
export function watchHome(dir: string, hint: () => void): {close: () => Promise<void>} {
  const watcher = watch([...folders, MARKER, 'allowlist.yaml'], {
    cwd: dir,
    ignoreInitial: true,
    ignored: (path, stats) => stats?.isFile() === true && kindOf(relativeTo(dir, path)) === undefined,
  });
  watcher.on('all', hint);
  // What the watcher cannot see, the periodic scan does.
  watcher.on('error', hint);
  return {close: () => watcher.close()};
}

function relativeTo(dir: string, path: string): string {
  return path.startsWith(`${dir}/`) ? path.slice(dir.length + 1) : path;
}
