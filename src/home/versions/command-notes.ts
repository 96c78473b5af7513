import {createHash} from 'node:crypto';
import {crashPoint} from '../disk/crash.ts';
import type {Disk} from '../disk/disk.ts';
import type {VersionUndo} from './record.ts';

/**
 * What a command tells the daemon about a version that it wrote: the text is complete, what it was made from, and whether
 * `agentdir undo` made it. Written before the file is, and removed when the version log has the version.
 */
export interface CommandNote {
  /** Git's name for what the file held before; null: there was none. */
  base: string | null;
  undo?: VersionUndo;
}

const FOLDER = '.agentdir/commands';
/** Undos of one file that no daemon has seen yet. */
const MAX_UNDOS = 100;

/** `blob`: git's name for what the file will hold; null: it will be removed. */
export function leaveNote(disk: Disk, path: string, blob: string | null, note: CommandNote): void {
  const place = placeOf(path, blob);
  disk.makeDirectory(FOLDER);
  disk.write(place, JSON.stringify(note));
  ownAsHome(disk, [FOLDER, place]);
  crashPoint('command-note');
}

export function noteOn(disk: Disk, path: string, blob: string | null): CommandNote | undefined {
  const place = placeOf(path, blob);
  if (!disk.exists(place)) return undefined;
  try {
    const note: unknown = JSON.parse(disk.read(place).toString());
    return isNote(note) ? note : undefined;
  } catch {
    return undefined;
  }
}

/** The undos by which a file came to hold `blob`, oldest first, as far as the version log does not have them. */
export function undosTo(disk: Disk, path: string, blob: string): {blob: string; note: CommandNote}[] {
  const undos: {blob: string; note: CommandNote}[] = [];
  for (let at: string | null = blob; at !== null && undos.length < MAX_UNDOS; ) {
    const note = noteOn(disk, path, at);
    if (!note?.undo || undos.some(undo => undo.blob === at)) break;
    undos.unshift({blob: at, note});
    at = note.base;
  }
  return undos;
}

/** Must not throw: a note that is left says nothing about any other text. */
export function forgetNote(disk: Disk, path: string, blob: string | null): void {
  try {
    disk.remove(placeOf(path, blob));
  } catch {
    // Another user's, and not ours to remove.
  }
}

function placeOf(path: string, blob: string | null): string {
  return `${FOLDER}/${createHash('sha1').update(`${path}\0${blob}`).digest('hex')}`;
}

/** An undo becomes part of a commit message: nothing in it may look like another trailer. */
function isNote(value: unknown): value is CommandNote {
  const {base, undo} = (value ?? {}) as Record<string, unknown>;
  const isId = (id: unknown) => typeof id === 'string' && /^[0-9a-f]{40,64}$/.test(id);
  const {commit, words} = (undo ?? {}) as Record<string, unknown>;
  return (base === null || isId(base)) && (undo === undefined || (isId(commit) && typeof words === 'string'));
}

/** Where root runs a command in the home of somebody else, their daemon reads and removes the note. */
function ownAsHome(disk: Disk, paths: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  const {uid = 0n, gid = 0n} = disk.stat('') ?? {};
  if (uid !== 0n) for (const path of paths) disk.chown(path, Number(uid), Number(gid));
}
