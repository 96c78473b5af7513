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

/** The file to go on with, and whether it was merged (then it is recorded already); or when to look again. */
export type MergeOutcome = {seen: FileSnapshot; merged?: true} | {outcome: LookOutcome};

/**
 * A save from an editor that had an older version open must not undo what was written since: find the version it was
 * made from, and merge. What cannot be merged is kept whole in conflicts/. A plain edit comes back as it is.
 */
export async function mergeStale(daemon: Loop, seen: FileSnapshot): Promise<MergeOutcome> {
  const {looks, queue} = daemon.files;
  const merged = await mergeSaved(daemon, seen);
  if (!looks.lateWrites.has(seen.path) || 'outcome' in merged) return merged;
  if (!merged.merged) return mergeLate(daemon, seen);
  // Bytes that an editor wrote into a replaced file are merged with this, in the next look.
  queue.add(seen.path);
  return merged;
}

/** The text that the file has, merged if it is stale. */
async function mergeSaved(daemon: Loop, seen: FileSnapshot): Promise<MergeOutcome> {
  const {files} = daemon;
  const {path, kind, text, blob} = seen;
  // A text with errors is neither acted on nor touched: what was good holds until it is mended.
  if (text === undefined || blocks(seen.facts.problems)) return {seen};
  const good = await lastGood(files, path, blob);
  if (good === undefined || good === blob) return {seen};
  // Nobody but persons writes on a page that waits: what was saved last is what they say.
  if (pendingId(path) !== undefined) return {seen};
  // Nothing at all is nearest to the shortest version there ever was, but it was not made from that one.
  if (text.trim() === '' || linkTarget(files.disk, path) !== undefined) return {seen};
  const last = await versionText(files, good, path);
  if (last === undefined) return {seen};
  const base = files.looks.unplaced.get(path);
  // If the text lacks something of that base, it is from an older version still.
  if (base !== undefined && !undoesLasting(kind, base, text)) return mergeFrom(daemon, seen, base, last);
  const lacks = undoesLasting(kind, last, text);
  if (!lacks && !(kind === 'session' && mayLackMessageWords(last, text))) return {seen};
  // What a person takes back by `agentdir undo` is meant, if it was made from what was known last.
  const undos = undosTo(files.disk, path, blob);
  if (undos.some(({note}) => files.phase.loading || note.base === good)) return {seen};
  // What git put there (revert, checkout of an older version) is meant.
  await followHead(files);
  // As long as git lacks versions, HEAD and the index have older texts that nobody brought back; at the start they are a person's.
  if ((files.phase.loading || !files.versions.isUnpublished(path)) && (await isBroughtByGit(files, seen, good)))
    return {seen};
  if (files.journal.busy()) return {outcome: {after: 50}};
  const past = await pastTexts(files, seen, good, last);
  return lacks ? mergeWith(daemon, seen, past) : keepRephrased(daemon, seen, past);
}

/** The save lacks something that must last. */
async function mergeWith(daemon: Loop, seen: FileSnapshot, {texts, byPerson}: PastTexts): Promise<MergeOutcome> {
  const {path, kind, text = ''} = seen;
  const [last = ''] = texts;
  const isQueue = path === APPROVALS_FILE;
  const at = findMergeBase(kind, texts, text, isQueue ? [] : byPerson);
  const base = texts[at];
  // What a person did since, they may take back.
  if (base === undefined || base === last || byPerson.slice(0, at).every(Boolean)) return {seen};
  if (kind === 'tasks' && !isQueue && onlyResets(texts, byPerson, text)) return {seen};
  const {text: merged, conflicts} = merge(kind, base, text, last);
  if (kind === 'tasks' && !isQueue && text === base) conflicts.push(...resetsIn(texts.slice(0, at + 1), byPerson));
  const kept = conflicts.length === 0 || (await keepConflict(daemon, path, seen.bytes, conflicts));
  if (!kept) return {outcome: {after: 1_000}};
  const result = isQueue ? withoutOldTicks(text, merged) : merged;
  return replaceWith(daemon, seen, result, [{seen, base}]);
}

/** The version that the file lacks was recorded and never placed: `base` is what it was made from, and so was this save. */
async function mergeFrom(daemon: Loop, seen: FileSnapshot, base: string, last: string): Promise<MergeOutcome> {
  const {path, kind, text = ''} = seen;
  const {text: merged, conflicts} = merge(kind, base, text, last);
  const kept = conflicts.length === 0 || (await keepConflict(daemon, path, seen.bytes, conflicts));
  return kept ? replaceWith(daemon, seen, merged, [{seen, base}]) : {outcome: {after: 1_000}};
}

/** Nobody but persons wrote since: what they said in other words is not undone by an older buffer that says something else. */
async function keepRephrased(daemon: Loop, seen: FileSnapshot, {texts, byPerson}: PastTexts): Promise<MergeOutcome> {
  const {text = ''} = seen;
  const [last = ''] = texts;
  const since = byPerson.indexOf(false);
  const at = nearestVersion(since === -1 ? texts : texts.slice(0, since + 1), text);
  const base = texts[at];
  // As it was before, with nothing else in it: that is what they mean.
  if (base === undefined || at === 0 || base === text) return {seen};
  return replaceWith(daemon, seen, keepMessageWords(base, text, last), [{seen, base}]);
}

/** What an editor wrote into the file that the daemon replaced meanwhile. */
async function mergeLate(daemon: Loop, seen: FileSnapshot): Promise<MergeOutcome> {
  const {files} = daemon;
  const {path, kind, text, facts} = seen;
  // A text with errors is never touched.
  if (text === undefined || blocks(facts.problems)) {
    const kept = await keepLateWrites(daemon, path);
    return kept ? {seen} : {outcome: {after: 1_000}};
  }
  let result = text;
  const saved: StaleSave[] = [{seen, base: undefined}];
  const goOn: (() => void)[] = [];
  const replaced = files.looks.lateWrites.get(path) ?? [];
  for (const {lateWrite, acknowledge, forget} of replaced) {
    const found = lateWrite();
    if (!found) {
      goOn.push(forget);
      continue;
    }
    goOn.push(() => keepWatching(files, () => acknowledge(found.bytes)));
    const {stat, link} = seen;
    const own = snapshotOfText(path, kind, found.bytes.toString(), {bytes: found.bytes, stat, link});
    const base = await lateBase(files, own, found.base);
    const merged =
      base === undefined || own.text === undefined || !found.bytes.equals(Buffer.from(own.text))
        ? {text: result, conflicts: ['what it was made from is not known, or it is not text']}
        : merge(kind, base, own.text, result);
    if (base !== undefined) saved.push({seen: own, base});
    if (merged.conflicts.length > 0 && !(await keepConflict(daemon, path, found.bytes, merged.conflicts)))
      return {outcome: {after: 1_000}};
    result = merged.text;
  }
  const written = await replaceWith(daemon, seen, result, saved);
  if ('outcome' in written) return written;
  files.looks.lateWrites.delete(path);
  for (const go of goOn) go();
  return written;
}

/** Find the base of bytes that an editor wrote into a replaced file: its content when it was replaced, or an older version. */
async function lateBase(files: HomeFiles, seen: FileSnapshot, held: string): Promise<string | undefined> {
  const {path, kind, text = ''} = seen;
  const base = await versionText(files, held, path);
  if (base === undefined || !undoesLasting(kind, base, text)) return base;
  const {texts, byPerson} = await pastTexts(files, seen, held, base);
  return texts[findMergeBase(kind, texts, text, path === APPROVALS_FILE ? [] : byPerson)];
}

/** Keep late writes in conflicts/, because the file is gone or has errors. Returns false if that failed for now. */
export async function keepLateWrites(daemon: Loop, path: string): Promise<boolean> {
  const {files} = daemon;
  for (const {lateWrite, acknowledge} of files.looks.lateWrites.get(path) ?? []) {
    const found = lateWrite();
    const why = ['it was saved into a file that is gone or has errors'];
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
