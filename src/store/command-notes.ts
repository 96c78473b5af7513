import {createHash} from 'node:crypto';
import {chownSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {crashPoint} from './crash.ts';
import type {Undo} from './versions/record.ts';

/**
 * What a command tells the daemon about a version that it wrote: the text is complete, what it was made from, and whether
 * `agentdir undo` made it. Written before the file is, and removed when the version log has the version.
 */
export interface CommandNote {
  /** Git's name for what the file held before; null: there was none. */
  base: string | null;
  undo?: Undo;
}

const FOLDER = '.agentdir/commands';
/** Undos of one file that no daemon has seen yet. */
const MOST = 100;

/** `blob`: git's name for what the file will hold; null: it will be removed. */
export function leaveNote(home: string, path: string, blob: string | null, note: CommandNote): void {
  const [folder, place] = [join(home, FOLDER), placeOf(home, path, blob)];
  mkdirSync(folder, {recursive: true});
  writeFileSync(place, JSON.stringify(note));
  ownAsHome(home, [folder, place]);
  crashPoint('command-note');
}

export function noteOn(home: string, path: string, blob: string | null): CommandNote | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(placeOf(home, path, blob), 'utf8'));
    return isNote(note) ? note : undefined;
  } catch {
    return undefined;
  }
}

/** The undos by which a file came to hold `blob`, oldest first, as far as the version log does not have them. */
export function undosTo(home: string, path: string, blob: string): {blob: string; note: CommandNote}[] {
  const undos: {blob: string; note: CommandNote}[] = [];
  for (let at: string | null = blob; at !== null && undos.length < MOST; ) {
    const note = noteOn(home, path, at);
    if (!note?.undo || undos.some(undo => undo.blob === at)) break;
    undos.unshift({blob: at, note});
    at = note.base;
  }
  return undos;
}

/** Must not throw: a note that is left says nothing about any other text. */
export function forgetNote(home: string, path: string, blob: string | null): void {
  try {
    rmSync(placeOf(home, path, blob), {force: true});
  } catch {
    // Another user's, and not ours to remove.
  }
}

function placeOf(home: string, path: string, blob: string | null): string {
  return join(home, FOLDER, createHash('sha1').update(`${path}\0${blob}`).digest('hex'));
}

/** An undo becomes part of a commit message: nothing in it may look like another trailer. */
function isNote(value: unknown): value is CommandNote {
  const {base, undo} = (value ?? {}) as Record<string, unknown>;
  const isId = (id: unknown) => typeof id === 'string' && /^[0-9a-f]{40,64}$/.test(id);
  const {commit, words} = (undo ?? {}) as Record<string, unknown>;
  return (base === null || isId(base)) && (undo === undefined || (isId(commit) && typeof words === 'string'));
}

/** Where root runs a command in the home of somebody else, their daemon reads and removes the note. */
function ownAsHome(home: string, paths: readonly string[]): void {
  const {uid, gid} = statSync(home);
  if (process.getuid?.() === 0 && uid !== 0) for (const path of paths) chownSync(path, uid, gid);
}
