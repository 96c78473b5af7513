import type {BigIntStats} from 'node:fs';
import {visibleLine} from '../../formats/common/visible.ts';
import {textOfName} from './byte-folder.ts';
import {type Content, modes} from './file-content.ts';
import {blobIn, type IndexState, isUnchanged, modeIn} from './index-state.ts';

/** A path that differs from the commit. */
export interface FoundFile {
  /** Path as bytes (see byte-folder.ts). */
  name: string;
  /** Undefined: deleted. */
  content: Content | undefined;
}

export interface WorkspaceFindings {
  changed: FoundFile[];
  /** Files with an unknown stat but unchanged content. */
  same: FoundFile[];
  /** Files that are not kept, with the reason. */
  leftOut: string[];
}

export interface ScanContext {
  home: string;
  agent: string;
  gitDir: string;
  state: IndexState;
  /** Files whose stat proves their content, although the index does not have it yet. */
  proven: ReadonlyMap<string, {id: string; stat: BigIntStats}>;
}

/** State of a scan in progress. */
export interface Scan extends ScanContext {
  found: WorkspaceFindings;
  seen: Set<string>;
  /** Unreadable folders: their files do not count as deleted. */
  hidden: string[];
  left: number;
  breathe: () => Promise<void> | undefined;
}

/** Whether the stat proves that the file is unchanged. */
export function isProvenUnchanged({state, proven}: Scan, at: number, path: string, stat: BigIntStats): boolean {
  const mode = stat.isSymbolicLink() ? modes.link : stat.mode & 0o100n ? modes.executable : modes.file;
  if (modeIn(state, at) !== mode) return false;
  if (isUnchanged(state, at, stat)) return true;
  const known = proven.get(path);
  return (
    known !== undefined &&
    known.id === blobIn(state, at) &&
    known.stat.ino === stat.ino &&
    known.stat.size === stat.size &&
    known.stat.mtimeNs === stat.mtimeNs &&
    known.stat.ctimeNs === stat.ctimeNs
  );
}

export function leaveOut(scan: Scan, path: string, why: string): void {
  scan.found.leftOut.push(`${visibleLine(textOfName(path)) || 'the workspace'} ${why}`);
}
