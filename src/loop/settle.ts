import {blocks} from '../formats/common/diagnostic.ts';
import {UserError} from '../formats/common/errors.ts';
import {kindOf} from '../formats/common/key.ts';
import {MARKER} from '../home/locate.ts';
import {linkTarget} from '../home/read.ts';
import {acceptVersion} from './accept-version.ts';
import type {FileSnapshot} from './file-snapshot.ts';
import type {Loop} from './parts.ts';
import type {LookOutcome} from './queue.ts';
import type {Reconciler, Reconcilers} from './reconciler.ts';
import {isIgnored} from './record.ts';
import {createText, replaceText} from './write.ts';

/** How long to wait for a person's unfinished rebase or merge, which fails if files change meanwhile. */
const UNFINISHED_MS = 500;

/** Let the reconciler act on a file. The file has no errors, unless the reconciler has `settlesWithErrors`. */
export async function settle(daemon: Loop, seen: FileSnapshot): Promise<LookOutcome> {
  const {files, reports} = daemon;
  const {path} = seen;
  const trouble = `complete ${path}`;
  const reconciler = files.kinds.reconcilers.for(path, seen.kind);
  files.looks.lookAgain.delete(path);
  try {
    // The daemon reads symbolic links but never writes through them.
    const isWritable = linkTarget(files.disk, path) === undefined;
    const outcome = await settleWith(daemon, reconciler, seen, isWritable);
    reports.troubles.set(trouble, undefined);
    return outcome;
  } catch (error) {
    // The editor of the format refuses an edit that would lose a comment or change how other lines are parsed.
    if (!(error instanceof UserError || error instanceof RangeError)) throw error;
    reports.troubles.set(trouble, `cannot edit ${path}: ${error.message}. Use the simple form of the format`);
    reconciler?.unwritable?.(path);
    return undefined;
  }
}

async function settleWith(
  daemon: Loop,
  reconciler: Reconciler | undefined,
  seen: FileSnapshot,
  isWritable: boolean,
): Promise<LookOutcome> {
  const {files} = daemon;
  const {clock} = files.disk;
  const {waitsForGit} = files.looks;
  // Without this pause, calls that end at once would be planned, run and thrown away in an endless loop.
  const pause = (waitsForGit.get(seen.path) ?? 0) - clock.monotonic();
  if (pause > 0 && files.journal.unfinished()) return {after: pause};
  waitsForGit.delete(seen.path);
  let current = seen;
  while (isWritable) {
    const change = await reconciler?.settle?.(current);
    if (!change) break;
    if ('outcome' in change) {
      if (change.outcome) return change.outcome;
      break;
    }
    if (files.journal.unfinished()) {
      waitsForGit.set(seen.path, clock.monotonic() + UNFINISHED_MS);
      return {after: UNFINISHED_MS};
    }
    const {text, entry, earlier = [], readBack} = change;
    const steps = [...earlier, {entry}];
    const written = await replaceText(daemon, current, text, {steps, ...(readBack && {seenAs: readBack})});
    if ('outcome' in written) return written.outcome;
    current = written.seen;
    change.saved?.();
    acceptVersion(daemon, current);
    change.done?.();
    if (!change.again || blocks(current.facts.problems)) break;
  }
  const isDone = (await reconciler?.finish?.(current)) ?? true;
  const known = files.known.get(seen.path);
  if (known) known.settled = isDone && !files.looks.lookAgain.has(seen.path);
  files.phase.unsaved = true;
  return undefined;
}

/** Create a missing file, if its reconciler wants it. */
export async function createMissing(daemon: Loop, path: string): Promise<LookOutcome> {
  const {files} = daemon;
  const kind = kindOf(path);
  const reconciler = kind && files.kinds.reconcilers.for(path, kind);
  files.looks.lookAgain.delete(path);
  // Write nothing where the home was unmounted or moved away.
  if (!reconciler?.create || files.phase.loading || !files.disk.exists(MARKER)) return undefined;
  const creation = await reconciler.create(path);
  if (!creation) return undefined;
  if ('outcome' in creation) return creation.outcome;
  if (files.journal.unfinished()) return {after: UNFINISHED_MS};
  const {text, entry, readBack} = creation;
  const written = await createText(daemon, path, text, entry, readBack);
  if ('outcome' in written) return written.outcome;
  creation.saved?.();
  acceptVersion(daemon, written.seen);
  await isIgnored(files, path);
  creation.done?.();
  return creation.next;
}

/** Whether the file alone shows that nothing is left to do for it. */
export function isAtRest(reconcilers: Reconcilers, seen: FileSnapshot): boolean {
  if (blocks(seen.facts.problems)) return false;
  return reconcilers.for(seen.path, seen.kind)?.isAtRest?.(seen) ?? true;
}
