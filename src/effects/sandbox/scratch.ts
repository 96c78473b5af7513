import {mkdtempSync, readdirSync, rmSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {isAlive, pidNamespace, startOf} from '../../home/disk/process-life.ts';

/** Purpose of a folder: `pipes` and `filter` are in the system's temporary folder, `group` is a control group, the others are in `.agentdir`. */
export type ScratchKind = 'pipes' | 'filter' | 'group' | 'sandbox-test' | 'sandbox-room';

/** The name contains the process, so that a later process can tell whether the folder was abandoned. */
const NAME = /^agentdir-(pipes|filter|group|sandbox-test|sandbox-room)-(\d+)-(\d*)-(\d*)-\w+$/;

const namespace = () => /\d+/.exec(pidNamespace())?.[0] ?? '';

/**
 * Create a short-lived folder. Its creator removes it; `clearScratch` does if the creator was killed. `label`: letters, digits and
 * `_`, by which others know it.
 */
export function scratchFolder(parent: string, kind: ScratchKind, label = ''): string {
  return mkdtempSync(join(parent, `agentdir-${kind}-${process.pid}-${startOf(process.pid)}-${namespace()}-${label}`));
}

/** Whether a folder was created with this label. */
export function isLabelled(path: string, label: string): boolean {
  return path.endsWith(`-${label}${path.slice(-RANDOM)}`);
}

/** Characters that `mkdtemp` adds to a name. */
const RANDOM = 6;

/** Processes of other containers are invisible: their folders are kept for this long. */
const UNSEEN_MS = 10 * 60_000;

/** Paths of folders below `parent` whose process was killed. Empty if `parent` is unreadable. */
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

/** Remove abandoned folders below `parent`. Never throws. */
export function clearScratch(parent: string): void {
  for (const path of abandonedScratch(parent)) removeScratch(path);
}

export function removeScratch(path: string): void {
  try {
    rmSync(path, {recursive: true, force: true});
  } catch {
    // It belongs to another user.
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
