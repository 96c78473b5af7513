import type {Facts} from '../check/facts.ts';
import type {Kind} from '../formats/common/key.ts';
import type {FileSnapshot} from './file-snapshot.ts';
import type {PlannedWrite} from './planned-write.ts';
import type {LookOutcome} from './queue.ts';

/** The change, or the outcome of a look at which the reconciler did everything itself. Undefined: nothing is to be written. */
export type Settlement = PlannedWrite | {outcome: LookOutcome} | undefined;

/** A file that is to be made. `next`: when to look at it again. */
export type Creation = (PlannedWrite & {next?: LookOutcome}) | {outcome: LookOutcome} | undefined;

/**
 * What the daemon does about one kind of file. The loop reads, merges, checks and records files of every kind in the same way and asks
 * the reconciler what follows from the result. Each look at a path calls one reconciler, one call at a time for each path.
 *
 * @example A kind whose files only get a missing line:
 * const notes: Reconciler = {
 *   kind: 'memory',
 *   settle: ({text = ''}) => (text.startsWith('# ') ? undefined : {text: `# Notes\n${text}`, entry: {words: 'title', cause: 'fill-in'}}),
 * };
 */
export interface Reconciler {
  readonly kind: Kind;
  /** Which files of the kind; all of them if this is left out. Must be cheap: it is asked at each look. */
  owns?(path: string): boolean;

  /** Takes the place of the whole look, for files that are not read as a whole. */
  look?(path: string): Promise<LookOutcome> | LookOutcome;
  /** What is to be written into the file. Must give undefined in the end: a file that holds all that follows from it is left alone. */
  settle?(file: FileSnapshot): Promise<Settlement> | Settlement;
  /** After the last `settle`: begins what follows for other files. False: look at the file again at the next start. */
  finish?(file: FileSnapshot): Promise<boolean> | boolean;
  /** The file does not exist: what to make it with, if the daemon needs it. */
  create?(path: string): Promise<Creation> | Creation;

  /** A version was accepted, whoever wrote it. */
  accepted?(file: FileSnapshot): void;
  /** A person removed the file. */
  removed?(path: string): void;
  /** The file refuses every edit that the daemon tried (`UserError`, `RangeError`). */
  unwritable?(path: string): void;
  /** Facts or problems of files have changed: look again at files that depend on them. */
  indexChanged?(): void;
  /** All files are read, at the start. Returns paths to look at besides those that the loop has found. */
  started?(): Iterable<string>;
  /** Called every few seconds. Returns paths to look at. */
  tick?(): Iterable<string>;

  /** Whether it is certain from the file alone that nothing is to be done about it. Without it: yes. */
  isAtRest?(file: FileSnapshot): boolean;
  /** Whether the file, unchanged, waits for something that is under way. */
  isWaiting?(path: string): boolean;

  /** Keep the parsed file in memory for the next look. */
  readonly keepsParsed?: boolean;
  /** Settle the file although it has errors. */
  readonly settlesWithErrors?: boolean;
  /** At a start without a cache, a file at rest that is as git has it needs no look. */
  readonly isKnownByReading?: boolean;
}

/** The registry: which reconciler is responsible for a path. */
export class Reconcilers {
  readonly #byKind = new Map<Kind, Reconciler[]>();
  #all: readonly Reconciler[] = [];

  constructor(all: readonly Reconciler[] = []) {
    this.add(all);
  }

  /** Of two that own a path, the one added first is asked. */
  add(reconcilers: readonly Reconciler[]): void {
    this.#all = [...this.#all, ...reconcilers];
    for (const reconciler of reconcilers)
      this.#byKind.set(reconciler.kind, [...(this.#byKind.get(reconciler.kind) ?? []), reconciler]);
  }

  /** Undefined: files like this one are read and checked, and nothing is done about them. */
  for(path: string, kind: Kind): Reconciler | undefined {
    return this.#byKind.get(kind)?.find(reconciler => reconciler.owns?.(path) ?? true);
  }

  [Symbol.iterator](): Iterator<Reconciler> {
    return this.#all[Symbol.iterator]();
  }
}

/** Kept in step with what files say. Undefined: the file says nothing, or is gone. */
export interface FactsFollower {
  factsChanged(path: string, before: Facts | undefined, now: Facts | undefined): void;
}
