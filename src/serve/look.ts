import {unreadFacts} from '../check/facts.ts';
import {blocks, hasErrors, type Problem} from '../files/diagnostic.ts';
import {isJournalled, kindOf} from '../files/key.ts';
import type {Session} from '../files/session/session.ts';
import type {Outcome} from '../queue.ts';
import {noteOn} from '../store/command-notes.ts';
import {blobId} from '../store/git/blob-id.ts';
import {MARKER} from '../store/locate.ts';
import {isForeign, readHomeFile} from '../store/read.ts';
import {replacedBy} from '../store/replaced.ts';
import {cutLinks, isProtected, takeBack, whyVoid} from './approvals/void.ts';
import {complete, leavesNothing} from './complete.ts';
import {notKept} from './conflict.ts';
import {DOUBTFUL_MS, hasItsEnd, isDoubtful, stableMs} from './doubt.ts';
import {lookAtInbox} from './inbox/inbox-look.ts';
import {isExecutable, signature} from './known.ts';
import {watchReplaced} from './late.ts';
import {keepLate, mergeStale} from './merge-stale.ts';
import {makeOwn} from './own-files.ts';
import {recordAgain, recordEdit, recordRemoval, recordUndo} from './record.ts';
import {type Seen, seenBytes, seenText} from './seen.ts';
import type {Serving} from './serving.ts';
import {lastBlob, setFacts, take, tell, textOf} from './state.ts';
import {wakeWaiting} from './turns/at-work.ts';

/**
 * Look at one file and do what follows from it: tell of its problems, commit what a person changed, fill in what they
 * left out. It does not matter why it is looked at, or how often.
 */
export async function look(serving: Serving, path: string): Promise<Outcome> {
  const kind = kindOf(path);
  if (!kind) return undefined;
  if (kind === 'inbox') return lookAtInbox(serving, path);
  if (serving.making.has(path)) return {after: 1};
  // The scan leaves other repositories out by itself.
  const read = !serving.loading && isForeign(serving.disk, path) ? undefined : readHomeFile(serving.disk, path);
  if (!read) return lookAtNothing(serving, path);
  if (read.bytes === undefined) return showUnreadable(serving, path, read.problem);
  const known = serving.known.get(path);
  const latest = serving.latest.get(path);
  // Comparing with what was written last costs a tenth of hashing.
  const blob = latest?.bytes.equals(read.bytes) ? latest.blob : blobId(read.bytes);
  const same = known?.blob === blob;
  if (same) {
    serving.pending.delete(path);
    if (!serving.late.has(path)) serving.troubles.set(notKept(path), undefined);
    known.signature = signature(read.stat);
    if (whyVoid(serving, path) !== undefined && read.stat.nlink > 1n && 'text' in read)
      return cutLinks(serving, seenText(path, kind, read.text, {...read, blob}));
    serving.approvals.suspects.delete(path);
    serving.unsaved = true;
    const done =
      known.ignored ||
      !isJournalled(kind) ||
      (serving.versions.blobAt(path) === known.blob &&
        serving.journal.executable.has(path) === isExecutable(read.stat));
    if (known.settled && done && !serving.late.has(path)) return undefined;
    // A session that something is under way for, as it was left.
    if (latest?.blob === known.blob && done && !serving.late.has(path) && !serving.loading) {
      const idle = serving.turns.has(path) && !serving.turns.hasNews(path) && !serving.nudged.has(path);
      return idle || blocks(serving.index.problems(path)) ? undefined : complete(serving, latest);
    }
  }
  const held = serving.pending.get(path)?.seen;
  const seen =
    held?.blob === blob
      ? {...held, stat: read.stat, link: read.link}
      : 'text' in read
        ? seenText(path, kind, read.text, {...read, blob}, sessionIn(latest))
        : seenBytes(path, kind, read.problem, {...read, blob});
  // What git has is nothing new, to whichever daemon.
  const isNew = lastBlob(serving, path) !== seen.blob;
  const wait = isNew ? await holdsStill(serving, path, seen) : 0;
  if (wait > 0) return {after: wait};
  const why = isNew && !serving.loading ? whyVoid(serving, path) : undefined;
  if (why !== undefined) return takeBack(serving, path, seen, why);
  serving.approvals.suspects.delete(path);
  if (isNew && serving.loading && isProtected(path)) serving.approvals.changedBefore.set(path, lastBlob(serving, path));
  return accept(serving, seen, same && serving.cause === 'edit');
}

function sessionIn(seen: Seen | undefined): Session | undefined {
  return seen?.parsed?.kind === 'session' ? seen.parsed.file : undefined;
}

/** How long to wait before a new content, or its absence, may be acted on. */
async function holdsStill(serving: Serving, path: string, seen: Seen | undefined): Promise<number> {
  const blob = seen?.blob ?? '';
  let pending = serving.pending.get(path);
  if (pending?.blob !== blob) {
    const since = serving.clock.monotonic();
    const wrong = hasErrors(seen?.facts.problems ?? []);
    const last = lastBlob(serving, path);
    const before = last === undefined ? undefined : await textOf(serving, last, path);
    const doubtful = isDoubtful(before, seen?.text, wrong);
    const whole = !doubtful && (savedWhole(serving, path, blob) || (await cameByRename(serving, seen, before)));
    const needed = doubtful ? DOUBTFUL_MS : whole ? 0 : stableMs(before, seen?.text ?? '');
    pending = {blob, since, doubtful, needed, seen};
    serving.pending.set(path, pending);
    serving.report({event: 'seen', path, wrong});
  }
  // What was saved a good while before the start holds still. A time in the future says nothing.
  if (seen && serving.loading && serving.clock.now() - Number(seen.stat.mtimeMs) >= DOUBTFUL_MS) return 0;
  const needed = !pending.doubtful && serving.hurry ? 0 : pending.needed;
  // A timer may come a little early.
  const left = needed - (serving.clock.monotonic() - pending.since);
  return left < 1 ? 0 : Math.ceil(left);
}

/** Whether it was put in place by a rename, as most editors save. */
async function cameByRename({renames, known}: Serving, seen: Seen | undefined, before: string | undefined) {
  if (!seen || seen.link || !hasItsEnd(before, seen.text ?? '')) return false;
  return renames.has(seen.path, seen.stat, known.get(seen.path)?.signature.split('.')[0]);
}

/** Whether a command of ours wrote it, all at once. An editor may have the file open that it replaced. */
function savedWhole(serving: Serving, path: string, blob: string): boolean {
  if (!noteOn(serving.disk, path, blob)) return false;
  for (const old of replacedBy(serving.disk, path, blob)) watchReplaced(serving, old);
  return true;
}

/** `unchanged`: the file is as the daemon knew it, but not as git has it. */
async function accept(serving: Serving, found: Seen, unchanged: boolean): Promise<Outcome> {
  const {path, text} = found;
  // A conflict that git left there is the person's to resolve, and no version of the file.
  const unmerged = hasMarkers(text ?? '') && (await serving.journal.isUnmerged(path));
  serving.troubles.set(`unmerged ${path}`, unmerged ? `${path} is unmerged; resolve it, then git add it` : undefined);
  if (unmerged) return {after: DOUBTFUL_MS / 2};
  const merged = await mergeStale(serving, found);
  if ('outcome' in merged) return merged.outcome;
  serving.troubles.set(notKept(path), undefined);
  const {seen} = merged;
  // A version is recorded before anything follows from it.
  if (!merged.merged) await record(serving, seen, unchanged);
  serving.pending.delete(path);
  serving.unplaced.delete(path);
  take(serving, seen);
  const known = serving.known.get(path);
  if (serving.loading && known && leavesNothing(seen)) known.settled = true;
  // A line that was set aside has errors, and keeps them.
  const acts = !serving.loading && (seen.kind === 'rejected' || !blocks(serving.index.problems(path)));
  return acts ? complete(serving, seen) : undefined;
}

async function record(serving: Serving, seen: Seen, unchanged: boolean): Promise<void> {
  const {path, blob} = seen;
  const former = serving.latest.get(path);
  if (unchanged && serving.versions.blobAt(path) !== blob) await recordAgain(serving, seen);
  else if (noteOn(serving.disk, path, blob)?.undo) await recordUndo(serving, seen, former);
  else await recordEdit(serving, seen, former);
}

function hasMarkers(text: string): boolean {
  return text.includes('<<<<<<< ') && /^<{7} /m.test(text) && /^>{7} /m.test(text);
}

async function lookAtNothing(serving: Serving, path: string): Promise<Outcome> {
  if (serving.late.has(path) && !(await keepLate(serving, path))) return {after: DOUBTFUL_MS};
  const known = serving.known.get(path);
  if (!known && !serving.journal.committed.has(path)) {
    // Never ours, or gone for good: perhaps it could not be read.
    serving.pending.delete(path);
    setFacts(serving, path, undefined);
    tell(serving);
    return makeOwn(serving, path);
  }
  const wait = await holdsStill(serving, path, undefined);
  if (wait > 0) return {after: wait};
  // Unmounted, or moved away: that is not a removal of its files.
  const there = serving.disk.exists(MARKER);
  serving.troubles.set(
    'marker',
    there ? undefined : `${MARKER} is gone, so this is no home now; nothing is done until it is back`,
  );
  if (!there) return {after: DOUBTFUL_MS};
  const why = whyVoid(serving, path);
  if (why !== undefined) return takeBack(serving, path, undefined, why);
  recordRemoval(serving, path);
  serving.pending.delete(path);
  serving.known.delete(path);
  serving.unplaced.delete(path);
  serving.turns.drop(path);
  serving.turns.endCalls('the session was removed', path);
  setFacts(serving, path, undefined);
  tell(serving);
  wakeWaiting(serving, path);
  return makeOwn(serving, path);
}

/** What cannot be read keeps its last good state in git. It is looked at again by itself. */
function showUnreadable(serving: Serving, path: string, problem: Problem): Outcome {
  setFacts(serving, path, unreadFacts(path, [problem]));
  // When it can be read again it is read anew, even if it is what it was.
  const known = serving.known.get(path);
  if (known) known.settled = false;
  tell(serving);
  return {after: 2 * DOUBTFUL_MS};
}
