import {APPROVALS_FILE} from '../formats/approval/approval-item.ts';
import {pendingId} from '../formats/approval/approval-path.ts';
import {withoutOldTicks} from '../formats/approval/approval-untick.ts';
import {blocks} from '../formats/common/diagnostic.ts';
import {merge} from '../formats/merge/merge.ts';
import {findMergeBase, nearestVersion} from '../formats/merge/merge-base.ts';
import {onlyResets, resetsIn} from '../formats/merge/merge-boxes.ts';
import {undoesLasting} from '../formats/merge/merge-lasting.ts';
import {keepMessageWords, mayLackMessageWords} from '../formats/merge/merge-words.ts';
import {linkTarget} from '../home/read.ts';
import {undosTo} from '../home/versions/command-notes.ts';
import {followHead, versionText} from './accept-version.ts';
import {keepConflict} from './conflict.ts';
import {type FileSnapshot, snapshotOfText} from './file-snapshot.ts';
import {isBroughtByGit} from './git-intent.ts';
import type {HomeFiles} from './home-files.ts';
import {lastGood} from './last-good.ts';
import {keepWatching} from './late-writes.ts';
import type {Loop} from './parts.ts';
import {type PastTexts, pastTexts} from './past-versions.ts';
import type {LookOutcome} from './queue.ts';
import {recordStale, type StaleSave} from './record.ts';
import {replaceText} from './write.ts';

/** The file to accept, or when to look again. `merged`: the file was merged and is already recorded. */
export type MergeOutcome = {seen: FileSnapshot; merged?: true} | {outcome: LookOutcome};

/**
 * Merge a save from an editor that had an older version open, so that it does not undo later changes. A save that cannot be merged is
 * kept whole in conflicts/. A plain edit is returned unchanged.
 */
export async function mergeStale(daemon: Loop, seen: FileSnapshot): Promise<MergeOutcome> {
  const {looks, queue} = daemon.files;
  const merged = await mergeSaved(daemon, seen);
  if (!looks.lateWrites.has(seen.path) || 'outcome' in merged) return merged;
  if (!merged.merged) return mergeLate(daemon, seen);
  // The next look merges late writes with this version.
  queue.add(seen.path);
  return merged;
}

/** Merge the file's own text if it is stale. */
async function mergeSaved(daemon: Loop, seen: FileSnapshot): Promise<MergeOutcome> {
  const {files} = daemon;
  const {path, kind, text, blob} = seen;
  // The daemon never changes a text with errors: the last good version stays in force until a person fixes it.
  if (text === undefined || blocks(seen.facts.problems)) return {seen};
  const good = await lastGood(files, path, blob);
  if (good === undefined || good === blob) return {seen};
  // Only people write to a pending approval page: their last save wins.
  if (pendingId(path) !== undefined) return {seen};
  // An empty text resembles the shortest version most, but was not made from it.
  if (text.trim() === '' || linkTarget(files.disk, path) !== undefined) return {seen};
  const last = await versionText(files, good, path);
  if (last === undefined) return {seen};
  const base = files.looks.unplaced.get(path);
  // A text that lacks something of this base was made from an older version.
  if (base !== undefined && !undoesLasting(kind, base, text)) return mergeFrom(daemon, seen, base, last);
  const lacks = undoesLasting(kind, last, text);
  if (!lacks && !(kind === 'session' && mayLackMessageWords(last, text))) return {seen};
  // `agentdir undo` removes lines on purpose, if it started from the last good version.
  const undos = undosTo(files.disk, path, blob);
  if (undos.some(({note}) => files.phase.loading || note.base === good)) return {seen};
  // So do git revert and git checkout of an older version.
  await followHead(files);
  if (mayBeBroughtByGit(files, path) && (await isBroughtByGit(files, seen, good))) return {seen};
  if (files.journal.busy()) return {outcome: {after: 50}};
  const past = await pastTexts(files, seen, good, last);
  return lacks ? mergeWith(daemon, seen, past) : keepRephrased(daemon, seen, past);
}

/**
 * While versions are unpublished, HEAD and the index hold older texts that nobody restored, unless a person moved HEAD since. At the start
 * a person put them there.
 */
function mayBeBroughtByGit({phase, versions, journal}: HomeFiles, path: string): boolean {
  const unpublished = versions.log.lastUnpublished(path);
  return phase.loading || unpublished === undefined || journal.isRestored(path, unpublished.time);
}

/** Merge a save that lacks something that must last. */
async function mergeWith(daemon: Loop, seen: FileSnapshot, {texts, byPerson}: PastTexts): Promise<MergeOutcome> {
  const {path, kind, text = ''} = seen;
  const [last = ''] = texts;
  const isQueue = path === APPROVALS_FILE;
  const at = findMergeBase(kind, texts, text, isQueue ? [] : byPerson);
  const base = texts[at];
  // People may undo their own changes.
  if (base === undefined || base === last || byPerson.slice(0, at).every(Boolean)) return {seen};
  if (kind === 'tasks' && !isQueue && onlyResets(texts, byPerson, text)) return {seen};
  const {text: merged, conflicts} = merge(kind, base, text, last);
  if (kind === 'tasks' && !isQueue && text === base) conflicts.push(...resetsIn(texts.slice(0, at + 1), byPerson));
  const kept = conflicts.length === 0 || (await keepConflict(daemon, path, seen.bytes, conflicts));
  if (!kept) return {outcome: {after: 1_000}};
  const result = isQueue ? withoutOldTicks(text, merged) : merged;
  return replaceWith(daemon, seen, result, [{seen, base}]);
}

/** The last version was recorded and never placed in the file. Both it and this save were made from `base`. */
async function mergeFrom(daemon: Loop, seen: FileSnapshot, base: string, last: string): Promise<MergeOutcome> {
  const {path, kind, text = ''} = seen;
  const {text: merged, conflicts} = merge(kind, base, text, last);
  const kept = conflicts.length === 0 || (await keepConflict(daemon, path, seen.bytes, conflicts));
  return kept ? replaceWith(daemon, seen, merged, [{seen, base}]) : {outcome: {after: 1_000}};
}

/** Only people wrote since: keep their rewording of messages when an older buffer with another change is saved. */
async function keepRephrased(daemon: Loop, seen: FileSnapshot, {texts, byPerson}: PastTexts): Promise<MergeOutcome> {
  const {text = ''} = seen;
  const [last = ''] = texts;
  const since = byPerson.indexOf(false);
  const at = nearestVersion(since === -1 ? texts : texts.slice(0, since + 1), text);
  const base = texts[at];
  // Saving an earlier version without other changes restores it on purpose.
  if (base === undefined || at === 0 || base === text) return {seen};
  return replaceWith(daemon, seen, keepMessageWords(base, text, last), [{seen, base}]);
}

/** Merge bytes that an editor wrote into a file after the daemon had replaced it. */
async function mergeLate(daemon: Loop, seen: FileSnapshot): Promise<MergeOutcome> {
  const {files} = daemon;
  const {path, kind, text, facts} = seen;
  // The daemon never changes a text with errors.
  if (text === undefined || blocks(facts.problems)) {
    const kept = await keepLateWrites(daemon, path);
    return kept ? {seen} : {outcome: {after: 1_000}};
  }
  let result = text;
  const saved: StaleSave[] = [{seen, base: undefined}];
  const afterwards: (() => void)[] = [];
  const replaced = files.looks.lateWrites.get(path) ?? [];
  for (const {lateWrite, acknowledge, forget} of replaced) {
    const found = lateWrite();
    if (!found) {
      afterwards.push(forget);
      continue;
    }
    afterwards.push(() => keepWatching(files, () => acknowledge(found.bytes)));
    const {stat, link} = seen;
    const late = snapshotOfText(path, kind, found.bytes.toString(), {bytes: found.bytes, stat, link});
    const base = await lateBase(files, late, found.base);
    const merged =
      base === undefined || late.text === undefined || !found.bytes.equals(Buffer.from(late.text))
        ? {text: result, conflicts: ['its base version is unknown, or it is not text']}
        : merge(kind, base, late.text, result);
    if (base !== undefined) saved.push({seen: late, base});
    if (merged.conflicts.length > 0 && !(await keepConflict(daemon, path, found.bytes, merged.conflicts)))
      return {outcome: {after: 1_000}};
    result = merged.text;
  }
  const written = await replaceWith(daemon, seen, result, saved);
  if ('outcome' in written) return written;
  files.looks.lateWrites.delete(path);
  for (const action of afterwards) action();
  return written;
}

/** Find the base of a late write: the replaced version, or an older one. */
async function lateBase(files: HomeFiles, seen: FileSnapshot, replaced: string): Promise<string | undefined> {
  const {path, kind, text = ''} = seen;
  const base = await versionText(files, replaced, path);
  if (base === undefined || !undoesLasting(kind, base, text)) return base;
  const {texts, byPerson} = await pastTexts(files, seen, replaced, base);
  return texts[findMergeBase(kind, texts, text, path === APPROVALS_FILE ? [] : byPerson)];
}

/** Keep late writes in conflicts/, because the file is gone or has errors. Returns false if that failed for now. */
export async function keepLateWrites(daemon: Loop, path: string): Promise<boolean> {
  const {files} = daemon;
  for (const {lateWrite, acknowledge} of files.looks.lateWrites.get(path) ?? []) {
    const found = lateWrite();
    const why = ['the file was removed or has errors'];
    if (found && !(await keepConflict(daemon, path, found.bytes, why))) return false;
    if (found) keepWatching(files, () => acknowledge(found.bytes));
  }
  files.looks.lateWrites.delete(path);
  return true;
}

async function replaceWith(daemon: Loop, seen: FileSnapshot, text: string, saved: StaleSave[]): Promise<MergeOutcome> {
  if (text === seen.text) return {seen};
  await recordStale(daemon, saved);
  const entry = {words: 'merged with what was written meanwhile', cause: 'merge'};
  const written = await replaceText(daemon, seen, text, {steps: [{entry}]});
  if ('outcome' in written) return written;
  daemon.reports.report({event: 'merged', path: seen.path});
  return {seen: written.seen, merged: true};
}
