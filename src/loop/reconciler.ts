import type {Facts} from '../check/facts.ts';
import type {Kind} from '../formats/common/key.ts';
import type {FileSnapshot} from './file-snapshot.ts';
import type {PlannedWrite} from './planned-write.ts';
import type {LookOutcome} from './queue.ts';

/** The text to write, or the outcome of the look if the reconciler did everything itself. Undefined: write nothing. */
export type Settlement = PlannedWrite | {outcome: LookOutcome} | undefined;

/** The file to create. `next`: when to look at it again. */
export type Creation = (PlannedWrite & {next?: LookOutcome}) | {outcome: LookOutcome} | undefined;

/**
 * The actions of the daemon for one kind of file. The loop reads, merges, checks and records every kind in the same way, then calls the
 * reconciler. Each path has one reconciler, and calls for the same path never overlap.
 *
 * @example A kind whose files only get a missing line:
 * const notes: Reconciler = {
 *   kind: 'memory',
 *   settle: ({text = ''}) => (text.startsWith('# ') ? undefined : {text: `# Notes\n${text}`, entry: {words: 'title', cause: 'fill-in'}}),
 * };
 */
export interface Reconciler {
  readonly kind: Kind;
  /** Which files of the kind this reconciler handles. Default: all. Must be cheap: each look calls it. */
  owns?(path: string): boolean;

  /** Replaces the whole look, for files that are not read as a whole. */
  look?(path: string): Promise<LookOutcome> | LookOutcome;
  /** The next text to write into the file. Must converge: return undefined when the file needs no change. */
  settle?(file: FileSnapshot): Promise<Settlement> | Settlement;
  /** Called after the last `settle`: start work that concerns other files. False: look at the file again at the next start. */
  finish?(file: FileSnapshot): Promise<boolean> | boolean;
  /** The content of a missing file, if the daemon needs the file. */
  create?(path: string): Promise<Creation> | Creation;

  /** A version was accepted, written by a person, an agent or the daemon. */
  accepted?(file: FileSnapshot): void;
  /** A person removed the file. */
  removed?(path: string): void;
  /** The daemon could not edit the file (`UserError`, `RangeError`). */
  unwritable?(path: string): void;
  /** Facts or problems have changed: look again at files that depend on them. */
  indexChanged?(): void;
  /** At the start, all files are read. Returns more paths to look at. */
  started?(): Iterable<string>;
  /** Called every few seconds. Returns paths to look at. */
  tick?(): Iterable<string>;

  /** Whether the file alone shows that nothing is left to do for it. Default: yes. */
  isAtRest?(file: FileSnapshot): boolean;
  /** Whether the unchanged file waits for work in progress, so that a look need not settle it. */
  isWaiting?(path: string): boolean;

  /** Keep the parsed file in memory for the next look. */
  readonly keepsParsed?: boolean;
  /** Settle the file although it has errors. */
  readonly settlesWithErrors?: boolean;
  /** At a start without a checkpoint, skip the look at a file that is at rest and as git has it. */
  readonly isKnownByReading?: boolean;
}

/** The registry of reconcilers. */
export class Reconcilers {
  readonly #byKind = new Map<Kind, Reconciler[]>();
  #all: readonly Reconciler[] = [];

  constructor(all: readonly Reconciler[] = []) {
    this.add(all);
  }

  /** If two reconcilers own a path, the first one added handles it. */
  add(reconcilers: readonly Reconciler[]): void {
    this.#all = [...this.#all, ...reconcilers];
    for (const reconciler of reconcilers)
      this.#byKind.set(reconciler.kind, [...(this.#byKind.get(reconciler.kind) ?? []), reconciler]);
  }

  /** Undefined: the daemon reads and checks such files and does nothing else. */
  for(path: string, kind: Kind): Reconciler | undefined {
    return this.#byKind.get(kind)?.find(reconciler => reconciler.owns?.(path) ?? true);
  }

  [Symbol.iterator](): Iterator<Reconciler> {
    return this.#all[Symbol.iterator]();
  }
}

/** Is notified when the facts of a file change. Undefined: no facts, or no file. */
export interface FactsFollower {
  factsChanged(path: string, before: Facts | undefined, now: Facts | undefined): void;
}
