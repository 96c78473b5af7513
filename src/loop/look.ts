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
 * Look at one file and do what follows from it: tell of its problems, commit what a person changed, fill in what they
 * left out. It does not matter why it is looked at, or how often.
 */
export async function look(daemon: Loop, path: string): Promise<LookOutcome> {
  const {files} = daemon;
  const kind = kindOf(path);
  if (!kind) return undefined;
  const reconciler = files.kinds.reconcilers.for(path, kind);
  if (reconciler?.look) return reconciler.look(path);
  if (files.looks.beingCreated.has(path)) return {after: 1};
  // The scan leaves other repositories out by itself.
  const read = !files.phase.loading && isForeign(files.disk, path) ? undefined : readHomeFile(files.disk, path);
  if (!read) return lookAtNothing(daemon, path);
  if (read.bytes === undefined) return showUnreadable(daemon, path, read.problem);
  const known = files.known.get(path);
  const latest = files.caches.snapshots.get(path);
  // Comparing with what was written last costs a tenth of hashing.
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
    // Unchanged, and still parsed: what it waits for may have come.
    if (latest?.blob === known.blob && done && !files.looks.lateWrites.has(path) && !files.phase.loading) {
      const isWaiting = reconciler?.isWaiting?.(path) === true && !files.looks.lookAgain.has(path);
      return isWaiting || blocks(files.index.problems(path)) ? undefined : settle(daemon, latest);
    }
  }
  const held = files.looks.pending.get(path)?.seen;
  const seen =
    held?.blob === blob
      ? {...held, stat: read.stat, link: read.link}
      : 'text' in read
        ? snapshotOfText(path, kind, read.text, {...read, blob}, latest?.parsed)
        : snapshotOfBytes(path, kind, read.problem, {...read, blob});
  // What git has is nothing new, to whichever daemon.
  const isNew = lastBlob(files, path) !== seen.blob;
  const wait = isNew ? await holdsStill(daemon, path, seen) : 0;
  if (wait > 0) return {after: wait};
  const why = isNew && !files.phase.loading ? files.kinds.guard.whyVoid(path) : undefined;
  if (why !== undefined) return files.kinds.guard.takeBack(path, seen, why);
  files.kinds.guard.unchanged(path);
  if (isNew && files.phase.loading) files.kinds.guard.changedBeforeStart(path, lastBlob(files, path));
  return accept(daemon, seen, same && files.phase.cause === 'edit');
}

/** How long to wait before a new content, or its absence, may be acted on. */
async function holdsStill({files, reports}: Loop, path: string, seen: FileSnapshot | undefined): Promise<number> {
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
  // What was saved a good while before the start holds still. A time in the future says nothing.
  if (seen && files.phase.loading && files.disk.clock.now() - Number(seen.stat.mtimeMs) >= HALF_SAVED_MS) return 0;
  const needed = !pending.doubtful && files.phase.hurry ? 0 : pending.needed;
  // A timer may come a little early.
  const left = needed - (files.disk.clock.monotonic() - pending.since);
  return left < 1 ? 0 : Math.ceil(left);
}

/** Whether it was put in place by a rename, as most editors save. */
async function cameByRename({looks, known}: HomeFiles, seen: FileSnapshot | undefined, before: string | undefined) {
  const {renames} = looks;
  if (!seen || seen.link || !hasItsEnd(before, seen.text ?? '')) return false;
  return renames.has(seen.path, seen.stat, known.get(seen.path)?.signature.split('.')[0]);
}

/** Whether a command of ours wrote it, all at once. An editor may have the file open that it replaced. */
function savedWhole(files: HomeFiles, path: string, blob: string): boolean {
  if (!noteOn(files.disk, path, blob)) return false;
  for (const old of replacedBy(files.disk, path, blob)) watchReplacedFile(files, old);
  return true;
}

/** `unchanged`: the file is as the daemon knew it, but not as git has it. */
async function accept(daemon: Loop, found: FileSnapshot, unchanged: boolean): Promise<LookOutcome> {
  const {files, reports} = daemon;
  const {path, text} = found;
  // A conflict that git left there is the person's to resolve, and no version of the file.
  const unmerged = hasMarkers(text ?? '') && (await files.journal.isUnmerged(path));
  reports.troubles.set(`unmerged ${path}`, unmerged ? `${path} is unmerged; resolve it, then git add it` : undefined);
  if (unmerged) return {after: HALF_SAVED_MS / 2};
  const merged = await mergeStale(daemon, found);
  if ('outcome' in merged) return merged.outcome;
  reports.troubles.set(unkeptEditTrouble(path), undefined);
  const {seen} = merged;
  // A version is recorded before anything follows from it.
  if (!merged.merged) {
    const former = files.caches.snapshots.get(path);
    if (unchanged && files.versions.blobAt(path) !== seen.blob) await recommitVersions(daemon, seen);
    else if (noteOn(files.disk, path, seen.blob)?.undo) await recordUndo(daemon, seen, former);
    else await recordEdit(daemon, seen, former);
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

async function lookAtNothing(daemon: Loop, path: string): Promise<LookOutcome> {
  const {files} = daemon;
  if (files.looks.lateWrites.has(path) && !(await keepLateWrites(daemon, path))) return {after: HALF_SAVED_MS};
  const known = files.known.get(path);
  if (!known && !files.journal.committed.has(path)) {
    // Never ours, or gone for good: perhaps it could not be read.
    files.looks.pending.delete(path);
    setFacts(files, path, undefined);
    reportProblems(daemon);
    return createMissing(daemon, path);
  }
  const wait = await holdsStill(daemon, path, undefined);
  if (wait > 0) return {after: wait};
  // Unmounted, or moved away: that is not a removal of its files.
  const there = files.disk.exists(MARKER);
  daemon.reports.troubles.set(
    'marker',
    there ? undefined : `${MARKER} is gone, so this is no home now; nothing is done until it is back`,
  );
  if (!there) return {after: HALF_SAVED_MS};
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

/** What cannot be read keeps its last good state in git. It is looked at again by itself. */
function showUnreadable(daemon: Loop, path: string, problem: Problem): LookOutcome {
  const {files} = daemon;
  setFacts(files, path, unreadFacts(path, [problem]));
  // When it can be read again it is read anew, even if it is what it was.
  const known = files.known.get(path);
  if (known) known.settled = false;
  reportProblems(daemon);
  return {after: 2 * HALF_SAVED_MS};
}
