import {statSync} from 'node:fs';
import {join} from 'node:path';
import {UserError} from '../../../formats/common/errors.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder} from '../../../home/read.ts';

const LOOK_MS = 30;
/** The longest time an editor takes to save. */
const PATIENCE_MS = 2_000;
const FRESH_MS = 1_000;

/** Retries while task files were just written: a file that is being saved may be empty, truncated or missing. */
export async function retryWhileSaving<T>(home: string, look: () => T): Promise<T> {
  for (const end = performance.now() + PATIENCE_MS; ; ) {
    try {
      return look();
    } catch (error) {
      if (!(error instanceof UserError) || performance.now() > end || !isJustWritten(home)) throw error;
    }
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
}

/** Whether one of the paths was written within the last second. */
export function isJustWritten(
  home: string,
  paths: readonly string[] = ['tasks', ...listFolder(nodeDisk(home), 'tasks')],
): boolean {
  const since = Date.now() - FRESH_MS;
  return paths.some(path => (statSync(join(home, path), {throwIfNoEntry: false})?.mtimeMs ?? 0) > since);
}
