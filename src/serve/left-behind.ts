import {undoes} from '../files/merge/merge-lasting.ts';
import {shortId} from '../store/replaced.ts';
import type {HomeFiles} from './home-files.ts';
import {isMeant} from './meant.ts';
import type {With} from './parts.ts';
import {recordRecovered} from './record-recovered.ts';
import {type Seen, seenText} from './seen.ts';

/** More than a daemon writes in the time for which what it replaced is kept. */
const PAST = 2_000;

/**
 * At the start: what a killed daemon wrote last, and could not commit, may have been saved over by a person since. It
 * happened all the same (a call was started, a message sent), so it is committed, and from here on it is what was known last: what was
 * saved is an edit of it, or from an older version. `over`: what git had before the person's own commits of the file.
 */
export async function takeLeftBehind(daemon: With<'files' | 'reports'>, seen: Seen, over?: string): Promise<void> {
  const {files} = daemon;

  const {known, texts, journal, versions} = files;
  const {earlier} = versions;
  const {leftBefore} = earlier;
  const {path, kind, stat, link} = seen;
  const newest = leftBefore.get(path);
  leftBefore.delete(path);
  // What came late is merged with what it was made from.
  if (newest === undefined || link || files.versions.late.has(path) || shortId(seen.blob) === newest.blob) return;
  const head = journal.committed.get(path);
  const {last, bytes} = await newestKept(files, newest.blob);
  if (!bytes || shortId(seen.blob) === last || !(await isAhead(files, {path, last, at: newest.at}, over ?? head)))
    return;
  const left = seenText(path, kind, bytes.toString(), {bytes, stat});
  if (shortId(left.blob) !== last || (await isMeant(files, seen, left.blob))) return;
  // They committed what they had made of it.
  if (head === seen.blob && !undoes(kind, left.text ?? '', seen.text ?? '')) return;
  const {ignored = false} = known.get(path) ?? {};
  // No file has this signature: the one that is there is another.
  known.set(path, {signature: '', blob: left.blob, good: left.blob, ignored, settled: false});
  if (left.text !== undefined) texts.set(left.blob, left.text);
  await recordRecovered(daemon, left, bytes);
}

/** This one of the daemon's; killed before a copy of it was made, and the file saved over, what it was made from. */
async function newestKept(
  {journal, versions}: HomeFiles,
  newest: string,
): Promise<{last: string; bytes: Buffer | undefined}> {
  const {earlier} = versions;
  const {madeFrom, writtenBefore} = earlier;
  const passed = new Set<string>();
  for (let last = newest; ; ) {
    const bytes = await journal.read(last);
    passed.add(last);
    const base = madeFrom.get(last);
    if (bytes || base === undefined || !writtenBefore.has(shortId(base)) || passed.has(shortId(base)))
      return {last, bytes};
    last = shortId(base);
  }
}

/** Whether no version that git has, up to this one at the head, is this one or was made after it. `at`: when the newest was written. */
async function isAhead(
  {journal, versions}: HomeFiles,
  {path, last, at: written}: {path: string; last: string; at: number},
  head: string | undefined,
): Promise<boolean> {
  const {earlier} = versions;
  const {madeFrom, writtenBefore} = earlier;
  const history = await journal.versions(path, PAST);
  const past = new Set(history.map(({blob}) => shortId(blob)));
  const passed = new Set<string>();
  let at: string | undefined = last;
  // From each version to what it was made from, as far as that was the daemon's too.
  while (at !== undefined && !passed.has(at)) {
    if (past.has(at)) return head !== undefined && at === shortId(head) && at !== last;
    passed.add(at);
    const base: string | undefined = writtenBefore.has(at) ? madeFrom.get(at) : undefined;
    at = base === undefined ? undefined : shortId(base);
  }
  // Or a daemon that was started since had looked at it, and was killed too.
  return !history.some(({cause, at}) => cause === 'recovered' && at > written);
}
