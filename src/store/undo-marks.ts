import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

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

/** `blob`: what the file holds then; null: nothing, it is removed. */
export function markUndo(home: string, path: string, blob: string | null, mark: UndoMark): void {
  mkdirSync(join(home, FOLDER), {recursive: true});
  writeFileSync(placeOf(home, path, blob), JSON.stringify(mark));
}

export function undoMark(home: string, path: string, blob: string | null): UndoMark | undefined {
  try {
    return JSON.parse(readFileSync(placeOf(home, path, blob), 'utf8')) as UndoMark;
  } catch {
    return undefined;
  }
}

export function forgetUndo(home: string, path: string, blob: string | null): void {
  rmSync(placeOf(home, path, blob), {force: true});
}

function placeOf(home: string, path: string, blob: string | null): string {
  return join(home, FOLDER, createHash('sha1').update(`${path}\0${blob}`).digest('hex'));
}
