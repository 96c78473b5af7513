import {undoesLasting} from '../formats/merge/merge-lasting.ts';
import {versionText} from './accept-version.ts';
import type {FileSnapshot} from './file-snapshot.ts';
import type {HomeFiles} from './home-files.ts';
import {pastVersions} from './past-versions.ts';

/**
 * Whether git put this text into the file (checkout, revert, reset). Such a text may remove lines on purpose. At a start this also holds
 * for a text that lacks nothing of what a person or an undo staged while no daemon ran. `good`: the last accepted version.
 */
export async function isBroughtByGit(files: HomeFiles, seen: FileSnapshot, good: string): Promise<boolean> {
  const {path, kind, text, blob} = seen;
  const {journal, phase} = files;
  const {loading} = phase;
  // The daemon committed this stale save itself, and has not merged it yet: the disk was full, or it was killed.
  const [lastRecord] = files.versions.history(path);
  if (lastRecord?.stale && lastRecord.blob === blob) return false;
  const committed = journal.committed.get(path);
  if (committed === blob) {
    const [last] = await journal.versions(path, 1);
    return !(last && journal.isPlainCommit(last)) || isBroughtBack(files, seen, good);
  }
  const staged = await journal.staged(path);
  // A person who staged the file while no daemon ran saw its content.
  if (staged === blob) return loading || isBroughtBack(files, seen, good);
  if (!loading || staged === undefined || staged === committed || staged === good) return false;
  const before = await versionText(files, staged, path);
  return before !== undefined && text !== undefined && !undoesLasting(kind, before, text);
}

/**
 * Whether every line of a text was in the file before: then the text is an older version, or a revert. A text with new lines was
 * written by hand, and may be a stale buffer even if it was committed or staged before the daemon looked.
 */
async function isBroughtBack(files: HomeFiles, {path, text = '', blob}: FileSnapshot, good: string): Promise<boolean> {
  const lines = new Set(text.split('\n'));
  const remove = (other: string | undefined) => {
    for (const line of other?.split('\n') ?? []) lines.delete(line);
  };
  remove(await versionText(files, good, path));
  for (const ever of [false, true])
    for await (const version of pastVersions(files, path, {ever})) {
      if (lines.size === 0) return true;
      if (version.blob === blob && version.isOwnCommit) continue;
      remove(await version.text());
    }
  return lines.size === 0;
}
