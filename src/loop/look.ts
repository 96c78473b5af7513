import {unreadFacts} from '../check/facts.ts';
import {blocks, hasErrors, type Problem} from '../formats/common/diagnostic.ts';
import {isJournalled, kindOf} from '../formats/common/key.ts';
import {blobId} from '../home/git/blob-id.ts';
import {MARKER} from '../home/locate.ts';
import {isForeign, readHomeFile} from '../home/read.ts';
import {replacedBy} from '../home/replaced-files.ts';
import {noteOn} from '../home/versions/command-notes.ts';
import {acceptVersion, lastBlob, reportProblems, setFacts, versionText} from './accept-version.ts';
import {unkeptEditTrouble} from './conflict.ts';
import {type FileSnapshot, snapshotOfBytes, snapshotOfText} from './file-snapshot.ts';
import {isExecutable, statSignature} from './file-state.ts';
import {HALF_SAVED_MS, hasItsEnd, mayBeHalfSaved, stableMs} from './half-saved.ts';
import type {HomeFiles} from './home-files.ts';
import {watchReplacedFile} from './late-writes.ts';
import {keepLateWrites, mergeStale} from './merge-stale.ts';
import type {Loop} from './parts.ts';
import type {LookOutcome} from './queue.ts';
import {recommitVersions, recordEdit, recordRemoval, recordUndo} from './record.ts';
import {createMissing, isAtRest, settle} from './settle.ts';

/**
 * Look at one file: read it, merge a stale save, record a person's edit, report problems, and let the reconciler act on it.
 * Idempotent: the result does not depend on why or how often a file is looked at.
 */
export async function look(daemon: Loop, path: string): Promise<LookOutcome> {
  const {files} = daemon;
  const kind = kindOf(path);
  if (!kind) return undefined;
  const reconciler = files.kinds.reconcilers.for(path, kind);
  if (reconciler?.look) return reconciler.look(path);
  if (files.looks.beingCreated.has(path)) return {after: 1};
  // The scan, which finds files while loading, already skips nested repositories.
  const read = !files.phase.loading && isForeign(files.disk, path) ? undefined : readHomeFile(files.disk, path);
  if (!read) return lookAtNothing(daemon, path);
  if (read.bytes === undefined) return showUnreadable(daemon, path, read.problem);
  const known = files.known.get(path);
  const latest = files.caches.snapshots.get(path);
  // Comparing bytes costs a tenth of hashing.
  const blob = latest?.bytes.equals(read.bytes) ? latest.blob : blobId(read.bytes);
  const same = known?.blob === blob;
  if (same) {
    files.looks.pending.delete(path);
    if (!files.looks.lateWrites.has(path)) daemon.reports.troubles.set(unkeptEditTrouble(path), undefined);
    known.signature = statSignature(read.stat);
    if (files.kinds.guard.whyVoid(path) !== undefined && read.stat.nlink > 1n && 'text' in read)
      return files.kinds.guard.cutLinks(snapshotOfText(path, kind, read.text, {...read, blob}));
    files.kinds.guard.unchanged(path);
    files.phase.unsaved = true;
    const done =
      known.ignored ||
      !isJournalled(kind) ||
      (files.versions.blobAt(path) === known.blob && files.journal.executable.has(path) === isExecutable(read.stat));
    if (known.settled && done && !files.looks.lateWrites.has(path)) return undefined;
    // Unchanged, and the snapshot is still cached: settle again, because something the file waits for may have happened.
    if (latest?.blob === known.blob && done && !files.looks.lateWrites.has(path) && !files.phase.loading) {
      const isWaiting = reconciler?.isWaiting?.(path) === true && !files.looks.lookAgain.has(path);
      return isWaiting || blocks(files.index.problems(path)) ? undefined : settle(daemon, latest);
    }
  }
  const pending = files.looks.pending.get(path)?.seen;
  const seen =
    pending?.blob === blob
      ? {...pending, stat: read.stat, link: read.link}
      : 'text' in read
        ? snapshotOfText(path, kind, read.text, {...read, blob}, latest?.parsed)
        : snapshotOfBytes(path, kind, read.problem, {...read, blob});
  // Content that git has was accepted before, perhaps by an earlier daemon.
  const isNew = lastBlob(files, path) !== seen.blob;
  const wait = isNew ? await stableIn(daemon, path, seen) : 0;
  if (wait > 0) return {after: wait};
  const why = isNew && !files.phase.loading ? files.kinds.guard.whyVoid(path) : undefined;
  if (why !== undefined) return files.kinds.guard.takeBack(path, seen, why);
  files.kinds.guard.unchanged(path);
  if (isNew && files.phase.loading) files.kinds.guard.changedBeforeStart(path, lastBlob(files, path));
  return accept(daemon, seen, same);
}

/** Milliseconds until new content, or the absence of a file, may be acted on. */
async function stableIn({files, reports}: Loop, path: string, seen: FileSnapshot | undefined): Promise<number> {
  const blob = seen?.blob ?? '';
  let pending = files.looks.pending.get(path);
  if (pending?.blob !== blob) {
    const since = files.disk.clock.monotonic();
    const wrong = hasErrors(seen?.facts.problems ?? []);
    const last = lastBlob(files, path);
    const before = last === undefined ? undefined : await versionText(files, last, path);
    const doubtful = mayBeHalfSaved(before, seen?.text, wrong);
    const whole = !doubtful && (savedWhole(files, path, blob) || (await cameByRename(files, seen, before)));
    const needed = doubtful ? HALF_SAVED_MS : whole ? 0 : stableMs(before, seen?.text ?? '');
    pending = {blob, since, doubtful, needed, seen};
    files.looks.pending.set(path, pending);
    reports.report({event: 'seen', path, wrong});
  }
  // At the start, a file that was saved long ago is stable. A time in the future says nothing.
  if (seen && files.phase.loading && files.disk.clock.now() - Number(seen.stat.mtimeMs) >= HALF_SAVED_MS) return 0;
  const needed = !pending.doubtful && files.phase.hurry ? 0 : pending.needed;
  const remaining = needed - (files.disk.clock.monotonic() - pending.since);
  // A timer may fire a little early.
  return remaining < 1 ? 0 : Math.ceil(remaining);
}

/** Whether the file was put in place by a rename, as most editors save. */
async function cameByRename({looks, known}: HomeFiles, seen: FileSnapshot | undefined, before: string | undefined) {
  const {renames} = looks;
  if (!seen || seen.link || !hasItsEnd(before, seen.text ?? '')) return false;
  return renames.has(seen.path, seen.stat, known.get(seen.path)?.signature.split('.')[0]);
}

/** Whether an agentdir command wrote this content, by a rename. Watches the replaced files: an editor may have one open. */
function savedWhole(files: HomeFiles, path: string, blob: string): boolean {
  if (!noteOn(files.disk, path, blob)) return false;
  for (const old of replacedBy(files.disk, path, blob)) watchReplacedFile(files, old);
  return true;
}

/** Merge, record and settle new content. `unchanged`: the daemon knows the content, but git lacks it. */
async function accept(daemon: Loop, found: FileSnapshot, unchanged: boolean): Promise<LookOutcome> {
  const {files, reports} = daemon;
  const {path, text} = found;
  // Git's conflict markers are for the person to resolve; the text is not a version of the file.
  const unmerged = hasMarkers(text ?? '') && (await files.journal.isUnmerged(path));
  reports.troubles.set(
    `unmerged ${path}`,
    unmerged ? `${path} has merge conflicts; resolve them, then git add it` : undefined,
  );
  if (unmerged) return {after: HALF_SAVED_MS / 2};
  const merged = await mergeStale(daemon, found);
  if ('outcome' in merged) return merged.outcome;
  reports.troubles.set(unkeptEditTrouble(path), undefined);
  const {seen} = merged;
  // Record a version before acting on it.
  if (!merged.merged) {
    const former = files.caches.snapshots.get(path);
    const isLost = unchanged && files.versions.blobAt(path) !== seen.blob;
    const isRecommitted = isLost && (await recommitVersions(daemon, seen));
    if (!isRecommitted && noteOn(files.disk, path, seen.blob)?.undo) await recordUndo(daemon, seen, former);
    else if (!isRecommitted) await recordEdit(daemon, seen, former);
  }
  files.looks.pending.delete(path);
  files.looks.unplaced.delete(path);
  acceptVersion(daemon, seen);
  const known = files.known.get(path);
  if (files.phase.loading && known && isAtRest(files.kinds.reconcilers, seen)) known.settled = true;
  const mayAct = files.kinds.reconcilers.for(path, seen.kind)?.settlesWithErrors || !blocks(files.index.problems(path));
  return !files.phase.loading && mayAct ? settle(daemon, seen) : undefined;
}

function hasMarkers(text: string): boolean {
  return text.includes('<<<<<<< ') && /^<{7} /m.test(text) && /^>{7} /m.test(text);
}

/** The file does not exist, or lies in a nested repository. */
async function lookAtNothing(daemon: Loop, path: string): Promise<LookOutcome> {
  const {files} = daemon;
  if (files.looks.lateWrites.has(path) && !(await keepLateWrites(daemon, path))) return {after: HALF_SAVED_MS};
  const known = files.known.get(path);
  if (!known && !files.journal.committed.has(path)) {
    // Never accepted, or already removed. It may have been unreadable, so clear its problems.
    files.looks.pending.delete(path);
    setFacts(files, path, undefined);
    reportProblems(daemon);
    return createMissing(daemon, path);
  }
  const wait = await stableIn(daemon, path, undefined);
  if (wait > 0) return {after: wait};
  // If the home was unmounted or moved away, its files were not removed.
  const isHome = files.disk.exists(MARKER);
  daemon.reports.troubles.set(
    'marker',
    isHome ? undefined : `${MARKER} is missing; the daemon does nothing until it is back`,
  );
  if (!isHome) return {after: HALF_SAVED_MS};
  const why = files.kinds.guard.whyVoid(path);
  if (why !== undefined) return files.kinds.guard.takeBack(path, undefined, why);
  recordRemoval(daemon, path);
  files.looks.pending.delete(path);
  files.known.delete(path);
  files.looks.unplaced.delete(path);
  setFacts(files, path, undefined);
  reportProblems(daemon);
  const kind = kindOf(path);
  if (kind) files.kinds.reconcilers.for(path, kind)?.removed?.(path);
  return createMissing(daemon, path);
}

/** Report an unreadable file and look again later. Its last version stays in git. */
function showUnreadable(daemon: Loop, path: string, problem: Problem): LookOutcome {
  const {files} = daemon;
  setFacts(files, path, unreadFacts(path, [problem]));
  // Settle the file again when it becomes readable, even if it is unchanged.
  const known = files.known.get(path);
  if (known) known.settled = false;
  reportProblems(daemon);
  return {after: 2 * HALF_SAVED_MS};
}
