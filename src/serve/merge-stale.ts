import {hasErrors} from '../files/diagnostic.ts';
import {merge} from '../files/merge.ts';
import {baseOf, mayBeOlder, undoes} from '../files/merge-base.ts';
import type {Outcome} from '../queue.ts';
import {linkTarget} from '../store/read.ts';
import {shortId} from '../store/replaced.ts';
import {keepConflict} from './conflict.ts';
import {watchOn} from './late.ts';
import type {Saved} from './record.ts';
import {type Seen, seenText} from './seen.ts';
import type {Serving} from './serving.ts';
import {followHead, lastBlob, textOf} from './state.ts';
import {replaceText} from './write.ts';

/** The file to go on with, and what it was merged from if it was; or when to look again. */
export type Merge = {seen: Seen; saved?: Saved[]} | {outcome: Outcome};

/** How many earlier versions a stale buffer may be from. */
const VERSIONS = 20;

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
  if (good === undefined || good === blob || text === undefined || hasErrors(seen.facts.problems)) return {seen};
  // Nothing at all is nearest to the shortest version there ever was, but it was not made from that one.
  if (text.trim() === '' || linkTarget(serving.home, path) !== undefined) return {seen};
  const last = await textOf(serving, good);
  if (last === undefined || !undoes(kind, last, text)) return {seen};
  // What git put there (revert, checkout of an older version) is meant.
  await followHead(serving);
  // As long as the journal is behind, HEAD and the index have older texts that nobody brought back.
  const meant = async () =>
    serving.journal.committed.get(path) === blob || (await serving.journal.staged(path)) === blob;
  if (!serving.underWay.has(path) && (await meant())) return {seen};
  if (serving.journal.busy()) return {outcome: {after: 50}};
  const versions = await versionsOf(serving, seen, good, last);
  const base = versions[baseOf(kind, versions, text)];
  if (base === undefined || base === last) return {seen};
  const {text: merged, conflicts} = merge(kind, base, text, last);
  const kept = conflicts.length === 0 || (await keepConflict(serving, path, seen.bytes, conflicts));
  return kept ? replaceWith(serving, seen, merged, [{seen, base}]) : {outcome: {after: 1_000}};
}

/** What an editor wrote into the file that the daemon replaced meanwhile: its base is what the daemon had compared. */
async function mergeLate(serving: Serving, seen: Seen): Promise<Merge> {
  const {path, kind, text, facts} = seen;
  // A text with errors is never touched.
  if (text === undefined || hasErrors(facts.problems)) {
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

/**
 * The text of the last known version, then of earlier ones. Down to what the person saved last if this save was made
 * from that or a later one: an older one would make of a task they added and then removed one that their editor never
 * knew. Never a later one than the last known, such as one with errors: what that has and the last known has not would
 * count as taken away.
 */
async function versionsOf(serving: Serving, seen: Seen, last: string, text: string): Promise<string[]> {
  const {path, kind} = seen;
  const {journal, unpublished, madeFrom} = serving;
  const all = [...(unpublished.get(path) ?? []), ...(await journal.versions(path, VERSIONS))];
  const older = mayBeOlder(kind, text, seen.text ?? '');
  const from = all.findIndex(({blob}) => blob === last);
  const texts = [text];
  for (const {blob, cause} of from === -1 ? [{blob: last, cause: ''}, ...all] : all.slice(from)) {
    const made = madeFrom.get(shortId(blob));
    for (const id of made === undefined ? [blob] : [blob, made]) {
      const version = id === last ? undefined : await textOf(serving, id);
      if (version !== undefined && !texts.includes(version)) texts.push(version);
    }
    if (!older && (cause === undefined || cause === 'edit')) break;
  }
  return texts;
}
