import {isDeepStrictEqual} from 'node:util';
import type {Facts} from '../check/facts.ts';
import {blocks, type Problem} from '../files/diagnostic.ts';
import {onDisk} from './current.ts';
import {signature} from './known.ts';
import type {Seen} from './seen.ts';
import type {Serving} from './serving.ts';
import {wakeTasks} from './tasks/wake-tasks.ts';
import {wakeWaiting} from './turns/at-work.ts';
import {reconsider, wake} from './turns/wake.ts';

/** From here on this is the file's last known state. */
export function take(serving: Serving, seen: Seen): void {
  const {path, blob, text} = seen;
  const {ignored = false, good} = serving.known.get(path) ?? {};
  const wrong = blocks(seen.facts.problems);
  serving.known.set(path, {
    signature: signature(seen.stat),
    blob,
    good: wrong ? good : blob,
    ignored,
    settled: false,
  });
  if (text !== undefined) serving.texts.set(blob, text);
  serving.latest.set(path, wrong || serving.loading ? undefined : seen);
  setFacts(serving, path, seen.facts);
  tell(serving);
  if (seen.kind === 'session') wakeWaiting(serving, path);
  if (seen.kind === 'settings' && !serving.loading) serving.onSettings();
  if (seen.kind === 'policy' && !wrong && !serving.loading) reconsider(serving);
}

/** What a file says now; undefined: it is gone. */
export function setFacts(
  serving: Pick<Serving, 'index' | 'sessions' | 'waits' | 'unsaved'>,
  path: string,
  found: Facts | undefined,
): void {
  const {index, sessions, waits} = serving;
  serving.unsaved = true;
  const former = index.facts(path);
  const wrong = found !== undefined && blocks(found.problems);
  // As long as a file has errors, what it said last of limits and decisions holds, and a session goes on waiting.
  const facts = wrong && former ? {...found, ...lasting(former, found)} : found;
  if (!wrong) waits.set(path, facts?.session, facts?.tasks);
  if (!isDeepStrictEqual(former?.limits, facts?.limits)) waits.allChanged();
  for (const id of changedStates(former?.approvals, facts?.approvals)) waits.changed(id);
  const count = (session: Facts['session'], by: number) => {
    const status = session?.status ?? 'new';
    if (session && !session.segment) sessions.set(status, (sessions.get(status) ?? 0) + by);
  };
  count(former?.session, -1);
  count(facts?.session, 1);
  if (facts) index.set(path, facts);
  else index.remove(path);
}

function lasting({limits, approvals}: Facts, found: Facts): Pick<Facts, 'limits' | 'approvals'> {
  return {
    ...(!found.limits && limits && {limits}),
    ...(approvals && {approvals}),
  };
}

/** Requests that are not what they were. */
function changedStates(before: Facts['approvals'] = {}, after: Facts['approvals'] = {}): string[] {
  if (before === after) return [];
  const gone = Object.keys(before).filter(id => !Object.hasOwn(after, id));
  return [...Object.keys(after).filter(id => before[id] !== after[id]), ...gone];
}

/** Tell of problems that are new or gone, and look again where that may change what is to be done. */
export function tell(serving: Serving): void {
  if (serving.loading) return;
  const key = (p: Problem) => `${p.code}\0${p.message}`;
  for (const {path, problems} of serving.index.settle()) {
    const known = serving.known.get(path);
    const text = known && serving.texts.get(known.blob);
    const before = serving.shown.get(path) ?? [];
    const old = new Set(before.map(key));
    const now = new Set(problems.map(key));
    // One that only moved to another line is the same.
    for (const problem of before) if (!now.has(key(problem))) serving.report({event: 'cleared', problem});
    for (const problem of problems) if (!old.has(key(problem))) serving.report({event: 'problem', problem, text});
    if (problems.length > 0) serving.shown.set(path, problems);
    else serving.shown.delete(path);
    if (known && !known.settled && !blocks(problems)) serving.queue.add(path);
  }
  wakeTasks(serving);
  wake(serving);
  serving.onChanged();
}

/** Git's name for the last content that was known at this path, by this daemon or an earlier one. */
export function lastBlob({known, journal}: Serving, path: string): string | undefined {
  return known.get(path)?.blob ?? journal.committed.get(path);
}

/** After a person moved HEAD, they may not be done with git yet. */
const AFTER_MOVE_MS = 2_000;

/** See whether a person moved HEAD, and look later at the files it concerns: what they reverted is still in the files. */
export async function followHead({journal, queue}: Serving): Promise<void> {
  for (const path of await journal.refresh()) queue.addAfter(path, AFTER_MOVE_MS);
}

/** The text of a version of a file, from memory, the version log or git. */
export async function textOf(serving: Serving, blob: string, path: string): Promise<string | undefined> {
  const {texts, versions, journal, disk} = serving;
  const recorded = () => versions.read(path, blob)?.toString();
  const text =
    texts.get(blob) ??
    onDisk(disk, path, blob) ??
    (versions.isUnpublished(path) ? recorded() : undefined) ??
    (await journal.read(blob))?.toString() ??
    recorded();
  if (text !== undefined) serving.texts.set(blob, text);
  return text;
}
