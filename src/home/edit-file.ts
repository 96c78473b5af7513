import {UserError} from '../formats/common/errors.ts';
import {nodeDisk} from './disk/disk.ts';
import {blobId} from './git/blob-id.ts';
import type {ReplacedFile} from './replaced-files.ts';
import {save} from './save.ts';
import {daemonOf} from './status.ts';
import {leaveNote, noteOn} from './versions/command-notes.ts';
import {notWritten} from './write-failure.ts';

const TRY_MS = 10_000;

/** The content that was read and the text to replace it. */
export interface FileEdit<T> {
  /** Undefined: there is no file yet. */
  expected: Buffer | undefined;
  text: string;
  /** Called after the save. `editFile` returns its result. */
  saved: () => T;
}

/**
 * Edit a file from a command, as a person would in an editor. If the file changes meanwhile, `edit` is called again to edit the new
 * content, so no change of another writer is lost.
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
    if ('failed' in result) throw notWritten(path, result.failed);
    if (performance.now() > end)
      throw new UserError(`${path} keeps changing: every try to save it failed for ${TRY_MS / 1000} s`);
  }
}

/** Remove the replaced file if no daemon will, no editor has it open and it has no late write. */
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
