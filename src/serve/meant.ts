import {undoes} from '../files/merge/merge-lasting.ts';
import type {HomeFiles} from './home-files.ts';
import {MOST_VERSIONS, VERSIONS, withoutOwn} from './past-texts.ts';
import type {Seen} from './seen.ts';
import {textOf} from './state.ts';

/** What git brought back; at a start also what lacks nothing of what a person, or an undo, staged while no daemon ran. */
export async function isMeant(files: HomeFiles, seen: Seen, good: string): Promise<boolean> {
  const {path, kind, text, blob} = seen;
  const {journal, phase} = files;
  const {loading} = phase;
  const committed = journal.committed.get(path);
  if (committed === blob) {
    const [last] = await journal.versions(path, 1);
    return !(last && journal.isPlainCommit(last)) || isBroughtBack(files, seen, good);
  }
  const staged = await journal.staged(path);
  // What they staged while no daemon ran, they saw as it is.
  if (staged === blob) return loading || isBroughtBack(files, seen, good);
  if (!loading || staged === undefined || staged === committed || staged === good) return false;
  const before = await textOf(files, staged);
  return before !== undefined && text !== undefined && !undoes(kind, before, text);
}

/**
 * Whether all of its lines were in the file before: then it is an older text, or a change that was taken back. What has others was
 * written by hand, and that it was committed or staged before the daemon looked makes it no less stale.
 */
async function isBroughtBack(files: HomeFiles, {path, text = '', blob}: Seen, good: string): Promise<boolean> {
  const {journal} = files;
  const lines = new Set(text.split('\n'));
  const looked = new Set<string>();
  for (const find of [() => journal.versions(path, VERSIONS), () => journal.allVersions(path, MOST_VERSIONS)])
    for (const id of [good, ...withoutOwn(await find(), blob).map(version => version.blob)]) {
      if (looked.has(id)) continue;
      looked.add(id);
      for (const line of (await textOf(files, id))?.split('\n') ?? []) lines.delete(line);
      if (lines.size === 0) return true;
    }
  return false;
}
