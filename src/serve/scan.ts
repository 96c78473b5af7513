import {type Dirent, readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as pause, setImmediate as turn} from 'node:timers/promises';
import type {Problem} from '../files/diagnostic.ts';
import {folders, kindOf} from '../files/key.ts';
import {isMisnamed, misnamed, unreadableFolder} from '../store/read.ts';
import {signature} from './known.ts';

/** Do not keep others waiting longer than this at a time. */
const SLICE_MS = 8;

export interface ScanTarget {
  home: string;
  /** The file as it was when last read, if it was. */
  signatureOf: (path: string) => string | undefined;
  /** Paths that were there once. */
  paths: () => Iterable<string>;
  onDirectory: (directory: string) => void;
  /** Perhaps a file that a killed process was writing. */
  onLeftover: (path: string) => void;
  onUnreadable: (problem: Problem) => void;
  /** The file is new, gone, or not as it was. */
  onDifference: (path: string) => void;
}

/**
 * Compare every file of the home with what is known of it. This repairs whatever the watch has missed. It lets others
 * have their turn every few milliseconds; with `patient` it makes way for them.
 */
export async function scan(target: ScanTarget, patient: boolean): Promise<void> {
  const {home, signatureOf, onDirectory, onLeftover, onUnreadable, onDifference} = target;
  const found = new Set<string>();
  let slice = performance.now();
  const walk = async (directory: string): Promise<void> => {
    const entries = entriesOf(home, directory, onUnreadable);
    // A repository of its own.
    if (entries.some(({name}) => name === '.git')) return;
    onDirectory(directory);
    for (const entry of entries) {
      const path = `${directory}/${entry.name}`;
      if (isMisnamed(home, path, entry)) onUnreadable(misnamed(path));
      else if (entry.isDirectory()) {
        if (!entry.name.startsWith('.')) await walk(path);
      } else if (entry.name.startsWith('.agentdir-')) onLeftover(path);
      else visit(path, entry);
      if (performance.now() - slice < SLICE_MS) continue;
      await (patient ? pause(SLICE_MS * 2) : turn());
      slice = performance.now();
    }
  };
  const visit = (path: string, entry?: Dirent): void => {
    const known = signatureOf(path);
    if (known === undefined && !kindOf(path)) return;
    if (known === undefined && entry?.isFile()) {
      // It is read anyway, and its stat with it.
      found.add(path);
      onDifference(path);
      return;
    }
    const stat = statOf(`${home}/${path}`);
    if (!stat?.isFile()) return;
    found.add(path);
    if (known !== signature(stat)) onDifference(path);
  };
  for (const path of ['agentdir.yaml', 'allowlist.yaml']) visit(path);
  for (const folder of folders) await walk(folder);
  for (const path of target.paths()) if (!found.has(path)) onDifference(path);
}

function entriesOf(home: string, directory: string, onUnreadable: ScanTarget['onUnreadable']): Dirent[] {
  try {
    return readdirSync(join(home, directory), {withFileTypes: true});
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') onUnreadable(unreadableFolder(directory, code ?? 'error'));
    return [];
  }
}

function statOf(path: string) {
  try {
    return statSync(path, {bigint: true, throwIfNoEntry: false});
  } catch {
    return undefined;
  }
}
