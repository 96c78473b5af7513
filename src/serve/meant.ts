import {undoes} from '../files/merge/merge-lasting.ts';
import {MOST_VERSIONS, VERSIONS, withoutOwn} from './past-texts.ts';
import type {Seen} from './seen.ts';
import type {Serving} from './serving.ts';
import {textOf} from './state.ts';

/** What git brought back; at a start also what lacks nothing of what a person, or an undo, staged while no daemon ran. */
export async function isMeant(serving: Serving, seen: Seen, good: string): Promise<boolean> {
  const {path, kind, text, blob} = seen;
  const {journal, loading} = serving;
  const committed = journal.committed.get(path);
  if (committed === blob) {
    const [last] = await journal.versions(path, 1);
    return !(last && journal.isPlainCommit(last)) || isBroughtBack(serving, seen, good);
  }
  const staged = await journal.staged(path);
  // What they staged while no daemon ran, they saw as it is.
  if (staged === blob) return loading || isBroughtBack(serving, seen, good);
  if (!loading || staged === undefined || staged === committed || staged === good) return false;
  const before = await textOf(serving, staged);
  return before !== undefined && text !== undefined && !undoes(kind, before, text);
}

/**
 * Whether all of its lines were in the file before: then it is an older text, or a change that was taken back. What has others was
 * written by hand, and that it was committed or staged before the daemon looked makes it no less stale.
 */
async function isBroughtBack(serving: Serving, {path, text = '', blob}: Seen, good: string): Promise<boolean> {
  const {journal} = serving;
  const lines = new Set(text.split('\n'));
  const looked = new Set<string>();
  for (const find of [() => journal.versions(path, VERSIONS), () => journal.allVersions(path, MOST_VERSIONS)])
    for (const id of [good, ...withoutOwn(await find(), blob).map(version => version.blob)]) {
      if (looked.has(id)) continue;
      looked.add(id);
      for (const line of (await textOf(serving, id))?.split('\n') ?? []) lines.delete(line);
      if (lines.size === 0) return true;
    }
  return false;
}
