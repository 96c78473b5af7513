import {kindOf, stemOf} from '../formats/common/key.ts';
import {visibleLine} from '../formats/common/visible.ts';
import {crashPoint} from '../home/disk/crash.ts';
import {blobId} from '../home/git/blob-id.ts';
import {readHomeFile} from '../home/read.ts';
import {acceptVersion} from './accept-version.ts';
import {snapshotOfText} from './file-snapshot.ts';
import type {Loop} from './parts.ts';
import {troubleText} from './troubles.ts';
import {createBytes} from './write.ts';

/**
 * Keep a text that could not be merged in conflicts/, where it is a problem until a person removes it. A void change goes to
 * conflicts/void/. Idempotent: the file name contains a hash of the content. Returns whether the text is kept.
 */
export async function keepConflict(
  daemon: Loop,
  path: string,
  bytes: Buffer,
  conflicts: readonly string[],
  isVoid = false,
): Promise<boolean> {
  const {reports} = daemon;
  const copy = copyPath(path, bytes, isVoid ? 'conflicts/void/' : 'conflicts/');
  crashPoint('conflict-write');
  const words = isVoid
    ? `a change of ${visibleLine(path)} that does not count: ${visibleLine(conflicts.join('; '))}`
    : `an edit of ${visibleLine(path)} that could not be merged`;
  const entry = {words, cause: isVoid ? 'void' : 'merge'};
  const kind = kindOf(copy) ?? 'conflict';
  const written = await createBytes(daemon, copy, bytes, entry, found =>
    snapshotOfText(copy, kind, bytes.toString(), found),
  );
  const isThere = readHomeFile(daemon.files.disk, copy)?.bytes?.equals(bytes) === true;
  const failed =
    'outcome' in written && written.outcome && 'failed' in written.outcome ? written.outcome.failed : undefined;
  reports.troubles.set(unkeptEditTrouble(path), !isThere && failed ? troubleText(copy, failed) : undefined);
  if (!isThere) return false;
  if ('seen' in written) acceptVersion(daemon, written.seen);
  reports.report({event: 'conflict', path, copy, conflicts});
  return true;
}

/** The key of the trouble that an edit of this file cannot be kept. */
export const unkeptEditTrouble = (path: string): string => `keep ${path}`;

/** tasks/a.task.md → conflicts/tasks/a.1f2e3d4c.task.md */
function copyPath(path: string, bytes: Buffer, to: string): string {
  const stem = stemOf(path);
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const ending = path.slice(folder.length + stem.length);
  return `${to}${folder}${stem}.${blobId(bytes).slice(0, 8)}${ending}`;
}
