import {createHash} from 'node:crypto';
import {crashPoint} from './crash.ts';
import type {Disk} from './disk.ts';

/**
 * That a text was made by `agentdir undo`: it may lack what no stale buffer may take away, and is meant. Written before the
 * file is, removed when the journal has it. Without it the edit would be one like others.
 */
export interface UndoMark {
  /** The commit that is taken back. */
  commit: string;
  /** What that was, in a few words. */
  words: string;
  /** Git's name for what the file held before the undo; null: there was none. */
  base: string | null;
}

const FOLDER = '.agentdir/undo';
/** Undos of one file that no daemon has seen yet. */
const MOST = 100;

/** `blob`: what the file holds then; null: nothing, it is removed. */
export function markUndo(disk: Disk, path: string, blob: string | null, mark: UndoMark): void {
  const place = placeOf(path, blob);
  disk.makeDirectory(FOLDER);
  disk.write(place, JSON.stringify(mark));
  ownAsHome(disk, [FOLDER, place]);
  crashPoint('undo-mark');
}

export function undoMark(disk: Disk, path: string, blob: string | null): UndoMark | undefined {
  try {
    const mark: unknown = JSON.parse(disk.read(placeOf(path, blob)).toString());
    return isMark(mark) ? mark : undefined;
  } catch {
    return undefined;
  }
}

/** The undos by which a file came to hold `blob`, one after the other, as far as the journal does not have them. Oldest first. */
export function undosTo(disk: Disk, path: string, blob: string): {blob: string; mark: UndoMark}[] {
  const undos: {blob: string; mark: UndoMark}[] = [];
  for (let at: string | null = blob; at !== null && undos.length < MOST; ) {
    const mark = undoMark(disk, path, at);
    if (!mark || undos.some(undo => undo.blob === at)) break;
    undos.unshift({blob: at, mark});
    at = mark.base;
  }
  return undos;
}

/** Must not throw: what is left lying says nothing of any other text. */
export function forgetUndo(disk: Disk, path: string, blob: string | null): void {
  try {
    disk.remove(placeOf(path, blob));
  } catch {
    // Another user's, and not ours to remove.
  }
}

function placeOf(path: string, blob: string | null): string {
  return `${FOLDER}/${createHash('sha1').update(`${path}\0${blob}`).digest('hex')}`;
}

/** What it says goes into a commit: nothing may stand there that would be another trailer. */
function isMark(value: unknown): value is UndoMark {
  const {commit, words, base} = (value ?? {}) as Record<string, unknown>;
  const isId = (id: unknown) => typeof id === 'string' && /^[0-9a-f]{40,64}$/.test(id);
  return isId(commit) && typeof words === 'string' && (base === null || isId(base));
}

/** Where root takes something back in the home of somebody else, their daemon reads and removes the mark. */
function ownAsHome(disk: Disk, paths: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  const {uid = 0n, gid = 0n} = disk.stat('') ?? {};
  if (uid !== 0n) for (const path of paths) disk.chown(path, Number(uid), Number(gid));
}
