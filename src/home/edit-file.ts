import {UserError} from '../formats/common/errors.ts';
import {nodeDisk} from './disk/disk.ts';
import {blobId} from './git/blob-id.ts';
import type {ReplacedFile} from './replaced-files.ts';
import {save} from './save.ts';
import {daemonOf} from './status.ts';
import {leaveNote, noteOn} from './versions/command-notes.ts';

const TRY_MS = 10_000;

/** A file as it was read, and as it is to be. */
export interface FileEdit<T> {
  /** Undefined: there is none yet. */
  expected: Buffer | undefined;
  text: string;
  /** What comes of it, once it is saved. */
  saved: () => T;
}

/**
 * How a command edits a file: as a person would with an editor. Whoever else writes meanwhile, a person or another
 * process: what they wrote stays, and `edit` is called again to read and edit that.
 */
export async function editFile<T>(
  home: string,
  path: string,
  edit: () => FileEdit<T> | Promise<FileEdit<T>>,
): Promise<T> {
  for (const end = performance.now() + TRY_MS; ; ) {
    const {expected, text, saved} = await edit();
    const disk = nodeDisk(home);
    const bytes = Buffer.from(text);
    const blob = blobId(bytes);
    if (!noteOn(disk, path, blob)) leaveNote(disk, path, blob, {base: expected ? blobId(expected) : null});
    const result = await save(disk, {path, expected, bytes, durable: true});
    if ('saved' in result) {
      const value = saved();
      if (result.replaced) await letGo(home, result.replaced);
      return value;
    }
    if ('failed' in result) throw new UserError(`${path} cannot be written: ${result.failed.message}`);
    if (performance.now() > end)
      throw new UserError(`${path} does not hold still: it changed at each try for ${TRY_MS / 1000} s`);
  }
}

/** A daemon looks after it. Without one, and where an editor has the old file open, it stays until there is one. */
async function letGo(home: string, replaced: ReplacedFile): Promise<void> {
  try {
    if (
      !daemonOf(nodeDisk(home)) &&
      !(await nodeDisk(home).isOpenElsewhere(replaced.inode)) &&
      replaced.lateWrite() === undefined
    )
      replaced.forget();
  } catch {
    // Somebody emptied .agentdir.
  }
}
