import {dirname} from 'node:path';
import type {Disk} from './disk/disk.ts';

/** A file that is being written names its process: whoever finds it later knows whether it was abandoned. */
const NAME = /^\.agentdir-(\d+)-(\d*)-\d+\.tmp$/;

let count = 0;

/** A name for a file that will be renamed to `target`, in the same folder. */
export function temporaryBeside(disk: Disk, target: string): string {
  const {pid, began} = disk.processes.self();
  const folder = dirname(target);
  return `${folder === '.' ? '' : `${folder}/`}.agentdir-${pid}-${began}-${count++}.tmp`;
}

/** Whether a file of this name was left by a process that is no more. */
export function isAbandoned(disk: Disk, name: string): boolean {
  const [, pid, began = ''] = NAME.exec(name) ?? [];
  return pid !== undefined && !disk.processes.isAlive(Number(pid), began);
}

/** Remove what killed processes left in this folder. */
export function clearAbandoned(disk: Disk, folder: string): void {
  try {
    for (const name of disk.names(folder))
      if (isAbandoned(disk, name)) disk.remove(folder === '' ? name : `${folder}/${name}`);
  } catch {
    // A folder that cannot be read or written is told of where it matters.
  }
}
