import {APPROVALS_FILE} from '../files/approval/approval-item.ts';
import {withoutOldTicks} from '../files/approval/approval-untick.ts';
import {blocks} from '../files/diagnostic.ts';
import {merge} from '../files/merge/merge.ts';
import {baseOf, mayBeOlder, onlyResets, undoes} from '../files/merge/merge-base.ts';
import type {Outcome} from '../queue.ts';
import type {Version} from '../store/git/git-history.ts';
import {linkTarget} from '../store/read.ts';
import {shortId} from '../store/replaced.ts';
import {undosTo} from '../store/undo-marks.ts';
import {pendingId} from './approvals/approvals.ts';
import {keepConflict} from './conflict.ts';
import {watchOn} from './late.ts';
import type {Saved} from './record.ts';
import {type Seen, seenText} from './seen.ts';
import type {Serving} from './serving.ts';
import {followHead, lastBlob, textOf} from './state.ts';
import {replaceText} from './write.ts';

/** The file to go on with, and what it was merged from if it was; or when to look again. */
export type Merge = {seen: Seen; saved?: Saved[]} | {outcome: Outcome};

/** How many earlier versions a stale buffer may be from; more are looked at only if it is from before all of these. */
const VERSIONS = 20;
const MOST_VERSIONS = 1_000;
/** And so many before the first of them that has nothing which is missed: not all that a version has is. */
const BEYOND = 5;
/** Characters of all of them. */
const MOST_TEXT = 64 * 1024 * 1024;

/**
 * A save from an editor that had an older version open must not undo what was written since: find the version it was
 * made from, and merge. What cannot be merged is kept whole in conflicts/. A plain edit comes back as it is.
 */
export async function mergeStale(serving: Serving, seen: Seen): Promise<Merge> {
  const {path, kind, text, blob} = seen;
  if (serving.late.has(path)) return mergeLate(serving, seen);
  // What the last daemon wrote is what there is, whether or not it could commit it.
  if (serving.cause === 'recovered' && serving.writtenBefore.has(shortId(blob))) return {seen};
  const good = serving.known.get(path)?.good ?? lastBlob(serving, path);
  // A text with errors is neither acted on nor touched: what was good holds until it is mended.
  if (good === undefined || good === blob || text === undefined || blocks(seen.facts.problems)) return {seen};
  // Nobody but persons writes on a page that waits: what was saved last is what they say.
  if (pendingId(path) !== undefined) return {seen};
  // Nothing at all is nearest to the shortest version there ever was, but it was not made from that one.
  if (text.trim() === '' || linkTarget(serving.home, path) !== undefined) return {seen};
  const last = await textOf(serving, good);
  if (last === undefined || !undoes(kind, last, text)) return {seen};
  // What a person takes back by `agentdir undo` is meant, if it was made from what was known last.
  const undos = undosTo(serving.home, path, blob);
  if (undos.some(({mark}) => serving.loading || mark.base === good)) return {seen};
  // What git put there (revert, checkout of an older version) is meant.
  await followHead(serving);
  // As long as the journal is behind, HEAD and the index have older texts that nobody brought back.
  if (!serving.underWay.has(path) && (await isMeant(serving, seen, good))) return {seen};
  if (serving.journal.busy()) return {outcome: {after: 50}};
  const {texts, byPerson} = await versionsOf(serving, seen, good, last);
  const at = baseOf(kind, texts, text);
  const base = texts[at];
  // What a person did since, they may take back.
  if (base === undefined || base === last || byPerson.slice(0, at).every(Boolean)) return {seen};
  if (kind === 'tasks' && path !== APPROVALS_FILE && onlyResets(texts, byPerson, text)) return {seen};
  const {text: merged, conflicts} = merge(kind, base, text, last);
  const kept = conflicts.length === 0 || (await keepConflict(serving, path, seen.bytes, conflicts));
  if (!kept) return {outcome: {after: 1_000}};
  const result = path === APPROVALS_FILE ? withoutOldTicks(text, merged) : merged;
  return replaceWith(serving, seen, result, [{seen, base}]);
}

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

/** Versions, newest first, without a person's own commit of the text that is looked at. */
function withoutOwn(versions: readonly Version[], blob: string): readonly Version[] {
  const [first] = versions;
  return first?.blob === blob && first.cause === undefined ? versions.slice(1) : versions;
}

/** What an editor wrote into the file that the daemon replaced meanwhile: its base is what the daemon had compared. */
async function mergeLate(serving: Serving, seen: Seen): Promise<Merge> {
  const {path, kind, text, facts} = seen;
  // A text with errors is never touched.
  if (text === undefined || blocks(facts.problems)) {
    const kept = await keepLate(serving, path);
    return kept ? {seen} : {outcome: {after: 1_000}};
  }
  let result = text;
  const saved: Saved[] = [{seen, base: undefined}];
  const goOn: (() => void)[] = [];
  const replaced = serving.late.get(path) ?? [];
  for (const {late, after, forget} of replaced) {
    const found = late();
    if (!found) {
      goOn.push(forget);
      continue;
    }
    goOn.push(() => watchOn(serving, () => after(found.bytes)));
    serving.journal.keep(found.bytes);
    const own = found.bytes.toString();
    const base = await textOf(serving, found.base);
    const merged =
      base === undefined || !found.bytes.equals(Buffer.from(own))
        ? {text: result, conflicts: ['what it was made from is not known, or it is not text']}
        : merge(kind, base, own, result);
    const {stat, link} = seen;
    if (base !== undefined) saved.push({seen: seenText(path, kind, own, {bytes: found.bytes, stat, link}), base});
    if (merged.conflicts.length > 0 && !(await keepConflict(serving, path, found.bytes, merged.conflicts)))
      return {outcome: {after: 1_000}};
    result = merged.text;
  }
  const written = await replaceWith(serving, seen, result, saved);
  if ('outcome' in written) return written;
  serving.late.delete(path);
  for (const go of goOn) go();
  return written;
}

/** The file itself is gone, or not to be touched: what came late is kept whole in conflicts/. Whether it is kept now. */
export async function keepLate(serving: Serving, path: string): Promise<boolean> {
  for (const {late, after} of serving.late.get(path) ?? []) {
    const found = late();
    const why = ['it was saved into a file that is gone or has errors'];
    if (found && !(await keepConflict(serving, path, found.bytes, why))) return false;
    if (found) watchOn(serving, () => after(found.bytes));
  }
  serving.late.delete(path);
  return true;
}

async function replaceWith(serving: Serving, seen: Seen, text: string, saved: Saved[]): Promise<Merge> {
  if (text === seen.text) return {seen};
  const written = await replaceText(serving, seen, text);
  if ('outcome' in written) return written;
  serving.report({event: 'merged', path: seen.path});
  return {seen: written.seen, saved};
}

/** Versions, the last known first, and whether a person made each of the one before it. */
interface Versions {
  texts: string[];
  byPerson: boolean[];
}

/**
 * The text of the last known version, then of earlier ones. Down to what the person saved last if this save was made
 * from that or a later one: an older one would make of a task they added and then removed one that their editor never
 * knew. Never a later one than the last known, such as one with errors: what that has and the last known has not would
 * count as taken away.
 */
async function versionsOf(serving: Serving, seen: Seen, last: string, text: string): Promise<Versions> {
  const {path, kind} = seen;
  const {journal, madeFrom} = serving;
  const waiting = serving.unpublished.get(path) ?? [];
  const unpublished = waiting.find(({blob}) => blob === last);
  const own = seen.text ?? '';
  const mayBeFrom = mayBeOlder(kind, text, own);
  let texts: string[] = [];
  let byPerson: boolean[] = [];
  for (const most of [VERSIONS, MOST_VERSIONS]) {
    const past = withoutOwn(await journal.versions(path, most), seen.blob);
    // What a person committed since the last known was given to the journal is later than that; what we did is not.
    const since = unpublished ? past.findIndex(({blob}) => blob === unpublished.over) : 0;
    const older: Pick<Version, 'blob' | 'cause'>[] = past.filter(
      ({cause}, i) => cause !== undefined || (since === -1 ? unpublished?.over : i >= since),
    );
    for (const version of serving.overtaken.get(path) ?? []) {
      const at = older.findIndex(({blob}) => blob === version.over);
      older.splice(at === -1 ? older.length : at, 0, version);
    }
    putLeft(serving, path, older);
    const all = [...waiting, ...older];
    const from = all.findIndex(({blob}) => blob === last);
    texts = [text];
    byPerson = [from !== -1 && all[from]?.cause === 'edit'];
    let length = 0;
    let [found, looked] = [Number.POSITIVE_INFINITY, 0];
    for (const [i, {blob, cause}] of (from === -1 ? [{blob: last, cause: ''}, ...all] : all.slice(from)).entries()) {
      const made = madeFrom.get(shortId(blob));
      for (const id of made === undefined ? [blob] : [blob, made]) {
        const version = id === last ? undefined : await textOf(serving, id);
        if (version === undefined || texts.includes(version)) continue;
        texts.push(version);
        byPerson.push(id === blob && cause === 'edit');
        length += version.length;
        // It has all that this version has: it is from about here, or later.
        if (i < found && !undoes(kind, version, own)) found = i;
      }
      looked = i;
      if (!mayBeFrom && (cause === undefined || cause === 'edit')) return {texts, byPerson};
      if (length > MOST_TEXT || i >= Math.max(VERSIONS, found + BEYOND)) return {texts, byPerson};
    }
    if (looked >= found + BEYOND || past.length < most - 1) break;
  }
  return {texts, byPerson};
}

/** Among versions, newest first, those that an earlier daemon left and no commit has: each before or after what it was. */
function putLeft({left}: Serving, path: string, versions: Pick<Version, 'blob' | 'cause'>[]): void {
  let at = 0;
  for (const {blob, ours} of left.get(path) ?? []) {
    const found = versions.findIndex(version => shortId(version.blob) === shortId(blob));
    if (found === -1) versions.splice(at++, 0, {blob, cause: ours ? 'recovered' : 'edit'});
    else at = Math.max(at, found + 1);
  }
}
