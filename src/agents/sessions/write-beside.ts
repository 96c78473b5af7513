import {kindOf} from '../../formats/common/key.ts';
import {readHomeFile} from '../../home/read.ts';
import {setFacts} from '../../loop/accept-version.ts';
import {type FileContent, type FileSnapshot, snapshotOfText} from '../../loop/file-snapshot.ts';
import {statSignature} from '../../loop/file-state.ts';
import type {DaemonEntry} from '../../loop/planned-write.ts';
import {createText, replaceText} from '../../loop/write.ts';
import type {With} from '../state/parts.ts';

/**
 * Write a file that a session is about to name: a segment or a checkpoint. It is durable when the promise resolves. An existing
 * file is left from a crash, because no session names it yet, and is overwritten. False: it could not be written.
 */
export async function writeBeside(
  daemon: With<'files' | 'reports'>,
  path: string,
  text: string,
  {entry, seenAs}: {entry: DaemonEntry; seenAs?: (found: FileContent) => FileSnapshot},
): Promise<boolean> {
  const {files} = daemon;
  const existing = readHomeFile(files.disk, path);
  const kind = kindOf(path);
  if (!kind || (existing && existing.bytes === undefined)) return false;
  const snapshot = seenAs ?? ((found: FileContent) => snapshotOfText(path, kind, text, found));
  const ignored = await files.looks.ignored.has(path);
  const written = existing
    ? await replaceText(daemon, {...snapshot(existing), bytes: existing.bytes}, text, {
        steps: [{entry}],
        seenAs: snapshot,
      })
    : await createText(daemon, path, text, entry, snapshot);
  if (!('seen' in written)) return false;
  const {seen} = written;
  const signature = statSignature(seen.stat);
  files.known.set(path, {signature, blob: seen.blob, good: seen.blob, settled: true, ignored});
  setFacts(files, path, seen.facts);
  return true;
}
