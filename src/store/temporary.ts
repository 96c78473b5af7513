import {readdirSync, rmSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {isAlive, startOf} from './process-life.ts';

/** A file that is being written names its process: whoever finds it later knows whether it was abandoned. */
const NAME = /^\.agentdir-(\d+)-(\d*)-\d+\.tmp$/;

const start = startOf(process.pid);
let count = 0;

/** A name for a file that will be renamed to `target`, in the same folder. */
export function temporaryBeside(target: string): string {
  return join(dirname(target), `.agentdir-${process.pid}-${start}-${count++}.tmp`);
}

/** Whether a file of this name was left by a process that is no more. */
export function isAbandoned(name: string): boolean {
  const [, pid, began = ''] = NAME.exec(name) ?? [];
  return pid !== undefined && !isAlive(Number(pid), began);
}

/** Remove what killed processes left in this folder. */
export function clearAbandoned(folder: string): void {
  try {
    for (const name of readdirSync(folder)) if (isAbandoned(name)) rmSync(join(folder, name), {force: true});
  } catch {
    // A folder that cannot be read or written is told of where it matters.
  }
}
