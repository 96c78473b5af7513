import type {Facts} from '../check/facts.ts';
import {blocks, type Problem} from '../formats/common/diagnostic.ts';
import {versionOnDisk} from './current-config.ts';
import type {FileSnapshot} from './file-snapshot.ts';
import {statSignature} from './file-state.ts';
import type {HomeFiles} from './home-files.ts';
import {lookAgain} from './look-again.ts';
import type {Loop} from './parts.ts';

/** Make this the file's last accepted version, and report its problems. */
export function acceptVersion(daemon: Loop, seen: FileSnapshot): void {
  const {files} = daemon;
  const {path, blob, text} = seen;
  const {ignored = false, good} = files.known.get(path) ?? {};
  const wrong = blocks(seen.facts.problems);
  files.known.set(path, {
    signature: statSignature(seen.stat),
    blob,
    good: wrong ? good : blob,
    ignored,
    settled: false,
  });
  if (text !== undefined) files.caches.texts.set(blob, text);
  const reconciler = files.kinds.reconcilers.for(path, seen.kind);
  const keeps = reconciler?.keepsParsed && !wrong && !files.phase.loading;
  files.caches.snapshots.set(path, keeps ? seen : undefined);
  setFacts(files, path, seen.facts);
  reportProblems(daemon);
  reconciler?.accepted?.(seen);
}

interface FactsOwner {
  readonly index: HomeFiles['index'];
  readonly kinds: Pick<HomeFiles['kinds'], 'followers'>;
  readonly phase: Pick<HomeFiles['phase'], 'unsaved'>;
}

/** Update the facts of a file and notify followers. `found` undefined: the file is gone. */
export function setFacts({index, kinds: {followers}, phase}: FactsOwner, path: string, found: Facts | undefined): void {
  phase.unsaved = true;
  const before = index.facts(path);
  const wrong = found !== undefined && blocks(found.problems);
  // While a file has errors, its last limits and decisions stay in force.
  const now = wrong && before ? {...found, ...lasting(before, found)} : found;
  for (const follower of followers) follower.factsChanged(path, before, now);
  if (now) index.set(path, now);
  else index.remove(path);
}

function lasting({limits, approvals}: Facts, found: Facts): Pick<Facts, 'limits' | 'approvals'> {
  return {
    ...(!found.limits && limits && {limits}),
    ...(approvals && {approvals}),
  };
}

/** Report new and cleared problems, and queue unsettled files that are no longer blocked. */
export function reportProblems({files, reports}: Loop): void {
  if (files.phase.loading) return;
  const key = (p: Problem) => `${p.code}\0${p.message}`;
  for (const {path, problems} of files.index.settle()) {
    const known = files.known.get(path);
    const text = known && files.caches.texts.get(known.blob);
    const before = files.looks.reportedProblems.get(path) ?? [];
    const old = new Set(before.map(key));
    const now = new Set(problems.map(key));
    // A problem that moved to another line is not a new problem.
    for (const problem of before) if (!now.has(key(problem))) reports.report({event: 'cleared', problem});
    for (const problem of problems) if (!old.has(key(problem))) reports.report({event: 'problem', problem, text});
    if (problems.length > 0) files.looks.reportedProblems.set(path, problems);
    else files.looks.reportedProblems.delete(path);
    if (!known || blocks(problems)) continue;
    // A change elsewhere may have solved a problem that held up a part of a settled file.
    if (known.settled) lookAgain(files, path);
    else files.queue.add(path);
  }
  for (const reconciler of files.kinds.reconcilers) reconciler.indexChanged?.();
  reports.changed();
}

/** The blob id of the file's last accepted content, by this daemon or an earlier one. */
export function lastBlob({known, journal}: HomeFiles, path: string): string | undefined {
  return known.get(path)?.blob ?? journal.committed.get(path);
}

/** A person who has just moved HEAD may run more git commands. */
const AFTER_MOVE_MS = 2_000;

/** If a person moved HEAD, look at the affected files after a while: the files may still hold the reverted content. */
export async function followHead({journal, queue}: HomeFiles): Promise<void> {
  for (const path of await journal.refresh()) queue.addAfter(path, AFTER_MOVE_MS);
}

/** The text of a version of a file, from memory, the version log or git. */
export async function versionText(files: HomeFiles, blob: string, path: string): Promise<string | undefined> {
  const {caches, versions, journal, disk} = files;
  const {texts} = caches;
  const recorded = () => versions.read(path, blob)?.toString();
  const text =
    texts.get(blob) ??
    versionOnDisk(disk, path, blob) ??
    (versions.isUnpublished(path) ? recorded() : undefined) ??
    (await journal.read(blob))?.toString() ??
    recorded();
  if (text !== undefined) files.caches.texts.set(blob, text);
  return text;
}
