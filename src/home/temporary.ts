import {basename, dirname} from 'node:path';
import type {Disk} from './disk/disk.ts';
import {blobId} from './git/blob-id.ts';

/**
 * The name of a temporary file contains its process, so that abandoned files can be recognized. For a file that is being removed, also the
 * beginning of the blob id that it should have, and its name.
 */
const NAME = /^\.agentdir-(\d+)-(\d*)-\d+(?:\.([0-9a-f]{16})\.(.+))?\.tmp$/s;
const LONGEST_NAME = 255;

let count = 0;

/** A name for a file that will be renamed to `target`, in the same folder. */
export function temporaryBeside(disk: Disk, target: string): string {
  const {pid, began} = disk.processes.self();
  const folder = dirname(target);
  return `${folder === '.' ? '' : `${folder}/`}.agentdir-${pid}-${began}-${count++}.tmp`;
}

/** A name for a file that is moved aside to be removed. After a crash, `clearIfAbandoned` finds out whether it was the expected file. */
export function asideOf(disk: Disk, path: string, expected: Buffer): string {
  const plain = temporaryBeside(disk, path);
  const named = `${plain.slice(0, -'.tmp'.length)}.${blobId(expected).slice(0, 16)}.${basename(path)}.tmp`;
  return Buffer.byteLength(basename(named)) > LONGEST_NAME ? plain : named;
}

/** Whether a temporary file of this name belongs to a process that no longer runs. */
export function isAbandoned(disk: Disk, name: string): boolean {
  const [, pid, began = ''] = NAME.exec(name) ?? [];
  return pid !== undefined && !disk.processes.isAlive(Number(pid), began);
}

type IsTorn = (path: string, bytes: Buffer) => boolean;

/** Remove temporary files of killed processes from this folder. `isTorn`: whether a power cut left these bytes at this path. */
export function clearAbandoned(disk: Disk, folder: string, isTorn?: IsTorn): void {
  try {
    for (const name of disk.names(folder)) clearIfAbandoned(disk, folder === '' ? name : `${folder}/${name}`, isTorn);
  } catch {
    // Other code reports a folder that cannot be read or written.
  }
}

/** Remove this temporary file if its process was killed. */
export function clearIfAbandoned(disk: Disk, temp: string, isTorn: IsTorn = () => false): void {
  if (!isAbandoned(disk, basename(temp))) return;
  putBackEdited(disk, temp, isTorn);
  disk.remove(temp);
}

/**
 * If a removal was killed after it had moved this file aside, and an editor had saved the file at the last moment, put the file back,
 * unless a newer one is there.
 */
function putBackEdited(disk: Disk, aside: string, isTorn: IsTorn): void {
  const [, , , blob, name] = NAME.exec(basename(aside)) ?? [];
  if (blob === undefined || name === undefined) return;
  const path = dirname(aside) === '.' ? name : `${dirname(aside)}/${name}`;
  const bytes = disk.read(aside);
  if (blobId(bytes).startsWith(blob) || disk.exists(path) || isTorn(path, bytes)) return;
  disk.link(aside, path);
}
