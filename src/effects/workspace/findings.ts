import type {BigIntStats} from 'node:fs';
import {visibleLine} from '../../formats/common/visible.ts';
import {textOfName} from './byte-folder.ts';
import {type Content, modes} from './file-content.ts';
import {blobIn, type IndexState, isUnchanged, modeIn} from './index-state.ts';

/** A path of which something else was committed. */
export interface FoundFile {
  /** Its bytes, each a character (see byte-folder.ts). */
  name: string;
  /** Undefined: it is gone. */
  content: Content | undefined;
}

export interface WorkspaceFindings {
  changed: FoundFile[];
  /** Only their stat was not known: they are as they were committed. */
  same: FoundFile[];
  /** What is not kept, and why. */
  leftOut: string[];
}

export interface ScanContext {
  home: string;
  agent: string;
  gitDir: string;
  state: IndexState;
  /** Files whose stat is known to prove their content, though the index does not say so yet. */
  proven: ReadonlyMap<string, {id: string; stat: BigIntStats}>;
}

/** A look at a workspace while it is under way. */
export interface Scan extends ScanContext {
  found: WorkspaceFindings;
  seen: Set<string>;
  /** Folders that could not be listed: what is in them is not gone. */
  hidden: string[];
  left: number;
  breathe: () => Promise<void> | undefined;
}

/** Whether it is proven without reading it that it is as it was committed. */
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
