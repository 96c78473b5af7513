import {UserError} from '../errors.ts';
import {blocks} from '../files/diagnostic.ts';
import {kindOf} from '../files/key.ts';
import type {Outcome} from '../queue.ts';
import {MARKER} from '../store/locate.ts';
import {linkTarget} from '../store/read.ts';
import type {Reconciler} from './reconciler.ts';
import {isIgnored} from './record.ts';
import type {Seen} from './seen.ts';
import type {Serving} from './serving.ts';
import {acceptVersion} from './state.ts';
import {createText, replaceText} from './write.ts';

/** How long to wait while a person's rebase or merge is unfinished: it does not go on over files that change meanwhile. */
const UNFINISHED_MS = 500;

/**
 * Do what follows from a file, as its reconciler says. The file has no errors, or its reconciler settles it all the same.
 */
export async function settle(serving: Serving, seen: Seen): Promise<Outcome> {
  const {path} = seen;
  const trouble = `complete ${path}`;
  const reconciler = serving.reconcilers.for(path, seen.kind);
  serving.nudged.delete(path);
  try {
    // A file that is a link is read, and never written.
    const isWritable = linkTarget(serving.disk, path) === undefined;
    const outcome = await settleWith(serving, reconciler, seen, isWritable);
    serving.troubles.set(trouble, undefined);
    return outcome;
  } catch (error) {
    // An edit that would lose a comment or change how other lines are read is refused, and left to the person.
    if (!(error instanceof UserError || error instanceof RangeError)) throw error;
    serving.troubles.set(trouble, `${path} cannot be gone on with: ${error.message}. Write it in the plain way`);
    reconciler?.unwritable?.(path);
    return undefined;
  }
}

async function settleWith(
  serving: Serving,
  reconciler: Reconciler | undefined,
  seen: Seen,
  isWritable: boolean,
): Promise<Outcome> {
  let current = seen;
  while (isWritable) {
    const change = await reconciler?.settle?.(current);
    if (!change) break;
    if ('outcome' in change) {
      if (change.outcome) return change.outcome;
      break;
    }
    if (serving.journal.unfinished()) return {after: UNFINISHED_MS};
    const {text, entry, earlier = [], readBack} = change;
    const steps = [...earlier, {entry}];
    const written = await replaceText(serving, current, text, {steps, ...(readBack && {seenAs: readBack})});
    if ('outcome' in written) return written.outcome;
    current = written.seen;
    change.saved?.();
    acceptVersion(serving, current);
    change.done?.();
    if (!change.again || blocks(current.facts.problems)) break;
  }
  const isDone = (await reconciler?.finish?.(current)) ?? true;
  const known = serving.known.get(seen.path);
  if (known) known.settled = isDone && !serving.nudged.has(seen.path);
  serving.unsaved = true;
  return undefined;
}

/** A file that does not exist: make it, if the daemon needs it. */
export async function createMissing(serving: Serving, path: string): Promise<Outcome> {
  const kind = kindOf(path);
  const reconciler = kind && serving.reconcilers.for(path, kind);
  serving.nudged.delete(path);
  // Nothing is put where a home was unmounted or moved away.
  if (!reconciler?.create || serving.loading || !serving.disk.exists(MARKER)) return undefined;
  const creation = await reconciler.create(path);
  if (!creation) return undefined;
  if ('outcome' in creation) return creation.outcome;
  if (serving.journal.unfinished()) return {after: UNFINISHED_MS};
  const {text, entry, readBack} = creation;
  const written = await createText(serving, path, text, entry, readBack);
  if ('outcome' in written) return written.outcome;
  creation.saved?.();
  acceptVersion(serving, written.seen);
  await isIgnored(serving, path);
  creation.done?.();
  return creation.next;
}

/** Whether it is certain, from the file alone, that nothing is to be done about it. */
export function isAtRest({reconcilers}: Pick<Serving, 'reconcilers'>, seen: Seen): boolean {
  if (blocks(seen.facts.problems)) return false;
  return reconcilers.for(seen.path, seen.kind)?.isAtRest?.(seen) ?? true;
}
