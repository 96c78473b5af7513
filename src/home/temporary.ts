import {dirname} from 'node:path';
import type {Disk} from './disk/disk.ts';

/** The name of a temporary file contains its process, so that abandoned files can be recognized. */
const NAME = /^\.agentdir-(\d+)-(\d*)-\d+\.tmp$/;

let count = 0;

/** A name for a file that will be renamed to `target`, in the same folder. */
export function temporaryBeside(disk: Disk, target: string): string {
  const {pid, began} = disk.processes.self();
  const folder = dirname(target);
  return `${folder === '.' ? '' : `${folder}/`}.agentdir-${pid}-${began}-${count++}.tmp`;
}

/** Whether a temporary file of this name belongs to a process that no longer runs. */
export function isAbandoned(disk: Disk, name: string): boolean {
  const [, pid, began = ''] = NAME.exec(name) ?? [];
  return pid !== undefined && !disk.processes.isAlive(Number(pid), began);
}

/** Remove temporary files of killed processes from this folder. */
export function clearAbandoned(disk: Disk, folder: string): void {
  try {
    for (const name of disk.names(folder))
      if (isAbandoned(disk, name)) disk.remove(folder === '' ? name : `${folder}/${name}`);
  } catch {
    // Other code reports a folder that cannot be read or written.
  }
}
