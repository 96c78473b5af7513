import type {Problem} from '../formats/common/diagnostic.ts';
import {folders, kindOf} from '../formats/common/key.ts';
import type {DirectoryEntry, Disk, FileStat} from '../home/disk/disk.ts';
import {isMisnamed, misnamed, misplaced, unreadableFolder} from '../home/read.ts';
import {statSignature} from './file-state.ts';

/** How long the scan may block the event loop. */
const SLICE_MS = 8;

export interface ScanTarget {
  disk: Disk;
  /** The signature of the file when it was last read. */
  signatureOf: (path: string) => string | undefined;
  /** All known paths. */
  paths: () => Iterable<string>;
  onDirectory: (directory: string) => void;
  /** A temporary file, perhaps of a killed process. */
  onLeftover: (path: string) => void;
  onUnreadable: (problem: Problem) => void;
  /** The file is new, removed or changed. */
  onDifference: (path: string) => void;
}

/**
 * Compare every file of the home with its last known signature, to find changes that the watch missed. Yields to the event loop every
 * few milliseconds. `patient`: also pauses, so that other work goes first.
 */
export async function scan(target: ScanTarget, patient: boolean): Promise<void> {
  const {disk, signatureOf, onDirectory, onLeftover, onUnreadable, onDifference} = target;
  const found = new Set<string>();
  let slice = disk.clock.monotonic();
  const walk = async (directory: string): Promise<void> => {
    const entries = entriesOf(disk, directory, onUnreadable);
    // Skip nested repositories.
    if (entries.some(({name}) => name === '.git')) return;
    onDirectory(directory);
    for (const entry of entries) {
      const path = `${directory}/${entry.name}`;
      if (isMisnamed(disk, path, entry)) onUnreadable(misnamed(path));
      else if (entry.isDirectory()) {
        if (!entry.name.startsWith('.')) await walk(path);
      } else if (entry.name.startsWith('.agentdir-')) onLeftover(path);
      else visit(path, entry);
      if (disk.clock.monotonic() - slice < SLICE_MS) continue;
      await (patient ? disk.clock.pause(SLICE_MS * 2) : disk.clock.nextTurn());
      slice = disk.clock.monotonic();
    }
  };
  const visit = (path: string, entry?: DirectoryEntry): void => {
    const known = signatureOf(path);
    if (known === undefined && !kindOf(path)) {
      for (const found of misplaced(path)) onUnreadable(found);
      return;
    }
    if (known === undefined && entry?.isFile()) {
      // No stat is needed: the look reads the file anyway.
      found.add(path);
      onDifference(path);
      return;
    }
    const stat = statOf(disk, path);
    if (!stat?.isFile()) return;
    found.add(path);
    if (known !== statSignature(stat)) onDifference(path);
  };
  for (const path of ['agentdir.yaml', 'allowlist.yaml']) visit(path);
  for (const folder of folders) await walk(folder);
  for (const path of target.paths()) if (!found.has(path)) onDifference(path);
}

function entriesOf(disk: Disk, directory: string, onUnreadable: ScanTarget['onUnreadable']): DirectoryEntry[] {
  try {
    return disk.list(directory);
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') onUnreadable(unreadableFolder(directory, code ?? 'error'));
    return [];
  }
}

/** Must not throw. Undefined: no file, or one that cannot be examined (a link to itself, a folder without permission). */
export function statOf(disk: Disk, path: string): FileStat | undefined {
  try {
    return disk.stat(path);
  } catch {
    return undefined;
  }
}
