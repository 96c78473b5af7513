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

/** How long to wait while a person's rebase or merge is unfinished: it does not go on over files that change meanwhile. */
const UNFINISHED_MS = 500;

/**
 * Do what follows from a file, as its reconciler says. The file has no errors, or its reconciler settles it all the same.
 */
export async function settle(daemon: Loop, seen: FileSnapshot): Promise<LookOutcome> {
  const {files, reports} = daemon;
  const {path} = seen;
  const trouble = `complete ${path}`;
  const reconciler = files.kinds.reconcilers.for(path, seen.kind);
  files.looks.lookAgain.delete(path);
  try {
    // A file that is a link is read, and never written.
    const isWritable = linkTarget(files.disk, path) === undefined;
    const outcome = await settleWith(daemon, reconciler, seen, isWritable);
    reports.troubles.set(trouble, undefined);
    return outcome;
  } catch (error) {
    // An edit that would lose a comment or change how other lines are read is refused, and left to the person.
    if (!(error instanceof UserError || error instanceof RangeError)) throw error;
    reports.troubles.set(trouble, `${path} cannot be gone on with: ${error.message}. Write it in the plain way`);
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
  let current = seen;
  while (isWritable) {
    const change = await reconciler?.settle?.(current);
    if (!change) break;
    if ('outcome' in change) {
      if (change.outcome) return change.outcome;
      break;
    }
    if (files.journal.unfinished()) return {after: UNFINISHED_MS};
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

/** A file that does not exist: make it, if the daemon needs it. */
export async function createMissing(daemon: Loop, path: string): Promise<LookOutcome> {
  const {files} = daemon;
  const kind = kindOf(path);
  const reconciler = kind && files.kinds.reconcilers.for(path, kind);
  files.looks.lookAgain.delete(path);
  // Nothing is put where a home was unmounted or moved away.
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

/** Whether it is certain, from the file alone, that nothing is to be done about it. */
export function isAtRest(reconcilers: Reconcilers, seen: FileSnapshot): boolean {
  if (blocks(seen.facts.problems)) return false;
  return reconcilers.for(seen.path, seen.kind)?.isAtRest?.(seen) ?? true;
}
