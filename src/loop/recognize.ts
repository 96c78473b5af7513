import {kindOf} from '../formats/common/key.ts';
import {blobId} from '../home/git/blob-id.ts';
import {readHomeFile} from '../home/read.ts';
import {setFacts} from './accept-version.ts';
import {snapshotOfText} from './file-snapshot.ts';
import {isExecutable, statSignature} from './file-state.ts';
import type {HomeFiles} from './home-files.ts';
import {isAtRest} from './settle.ts';

/**
 * At a start without a checkpoint, nearly all files are as git has them, without problems and with nothing left to do. Reading such a
 * file is enough. False: the file needs a look.
 */
export function recognizeUnchanged(files: HomeFiles, path: string): boolean {
  const {disk, journal, known, looks} = files;
  const {lateWrites, pending} = looks;
  if (!files.phase.loading || known.has(path) || pending.has(path) || lateWrites.has(path)) return false;
  const kind = kindOf(path);
  if (!kind || !files.kinds.reconcilers.for(path, kind)?.isKnownByReading) return false;
  const read = readHomeFile(disk, path);
  if (!read || !('text' in read) || read.link) return false;
  const blob = blobId(read.bytes);
  if (blob !== files.versions.blobAt(path) || journal.executable.has(path) !== isExecutable(read.stat)) return false;
  const seen = snapshotOfText(path, kind, read.text, {...read, blob});
  // Git's conflict markers count as errors, too.
  if (seen.facts.problems.length > 0 || !isAtRest(files.kinds.reconcilers, seen)) return false;
  known.set(path, {signature: statSignature(read.stat), blob, good: blob, ignored: false, settled: true});
  setFacts(files, path, seen.facts);
  return true;
}
