import {createHash} from 'node:crypto';
import {crashPoint} from '../disk/crash.ts';
import type {Disk} from '../disk/disk.ts';
import type {VersionUndo} from './record.ts';

/**
 * A command's note to the daemon about a version that it wrote: the text is complete, its base, and whether `agentdir undo` made it.
 * The command writes the note before the file. The daemon removes it when the version log has the version.
 */
export interface CommandNote {
  /** The blob id of the file before; null: there was no file. */
  base: string | null;
  undo?: VersionUndo;
}

const FOLDER = '.agentdir/commands';
/** How many undos of one file to follow back. */
const MAX_UNDOS = 100;

/** `blob`: the id of the content to be written; null: the file will be removed. */
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

/** The chain of undos that led to `blob`, oldest first, without those that the version log has. */
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

/** Must not throw: a note that stays does no harm, because it concerns this content only. */
export function forgetNote(disk: Disk, path: string, blob: string | null): void {
  try {
    disk.remove(placeOf(path, blob));
  } catch {
    // The note belongs to another user.
  }
}

function placeOf(path: string, blob: string | null): string {
  return `${FOLDER}/${createHash('sha1').update(`${path}\0${blob}`).digest('hex')}`;
}

/** Validates ids, because an undo becomes part of a commit message and must not inject trailers. */
function isNote(value: unknown): value is CommandNote {
  const {base, undo} = (value ?? {}) as Record<string, unknown>;
  const isId = (id: unknown) => typeof id === 'string' && /^[0-9a-f]{40,64}$/.test(id);
  const {commit, words} = (undo ?? {}) as Record<string, unknown>;
  return (base === null || isId(base)) && (undo === undefined || (isId(commit) && typeof words === 'string'));
}

/** If root runs a command in another user's home, give the note to that user, whose daemon reads and removes it. */
function ownAsHome(disk: Disk, paths: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  const {uid = 0n, gid = 0n} = disk.stat('') ?? {};
  if (uid !== 0n) for (const path of paths) disk.chown(path, Number(uid), Number(gid));
}
