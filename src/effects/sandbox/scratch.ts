import {mkdtempSync, readdirSync, rmSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {isAlive, pidNamespace, startOf} from '../../home/disk/process-life.ts';

/** What a folder is for: `pipes` and `filter` in the system's temporary folder, the others in `.agentdir`. */
export type ScratchKind = 'pipes' | 'filter' | 'sandbox-test' | 'sandbox-room';

/** A folder names its process, so that a later one knows whether it was abandoned. */
const NAME = /^agentdir-(pipes|filter|sandbox-test|sandbox-room)-(\d+)-(\d*)-(\d*)-\w+$/;

const namespace = () => /\d+/.exec(pidNamespace())?.[0] ?? '';

/** A new folder that is used for a moment. Its maker removes it; if the maker is killed, `clearScratch` does. */
export function scratchFolder(parent: string, kind: ScratchKind): string {
  return mkdtempSync(join(parent, `agentdir-${kind}-${process.pid}-${startOf(process.pid)}-${namespace()}-`));
}

/** A process of another container cannot be seen: its folders are left alone for this long. */
const UNSEEN_MS = 10 * 60_000;

/** Folders of killed processes below `parent`, as paths. Empty where nobody may look. */
export function abandonedScratch(parent: string): string[] {
  return namesIn(parent)
    .filter(name => {
      const [, , pid, start = '', space] = NAME.exec(name) ?? [];
      if (pid === undefined) return false;
      if (space === namespace()) return !isAlive(Number(pid), start);
      return Date.now() - modifiedAt(join(parent, name)) > UNSEEN_MS;
    })
    .map(name => join(parent, name));
}

/** Remove the folders of killed processes below `parent`. Never throws. */
export function clearScratch(parent: string): void {
  for (const path of abandonedScratch(parent)) removeScratch(path);
}

export function removeScratch(path: string): void {
  try {
    rmSync(path, {recursive: true, force: true});
  } catch {
    // Another user's.
  }
}

function modifiedAt(path: string): number {
  return statSync(path, {throwIfNoEntry: false})?.mtimeMs ?? Date.now();
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
