import {setImmediate as turn} from 'node:timers/promises';
import {git} from './git.ts';
import {isClean, isTakenBack, type PendingChange} from './git-clean.ts';
import {oneLine} from './git-commit.ts';
import type {GitConfig, Person} from './git-config.ts';
import {filteredBlob} from './git-filters.ts';
import type {ImportedFile, Importer} from './git-import.ts';
import type {IndexChange, IndexCopy, Leaf} from './git-index-copy.ts';
import {release, type Workplace} from './git-locks.ts';
import {moveHead} from './git-move-head.ts';
import type {Head} from './git-refs.ts';
import type {Repository} from './git-repository.ts';
import {TreeChanges} from './git-tree-changes.ts';

/** Others get a turn after so long. */
const SLICE_MS = 8;
/** Of a subject in the reflog. */
const MOST_SUBJECT = 1_000;

/** A state change that waits to be published. */
export interface Pending {
  changes: readonly PendingChange[];
  author: Person | 'human';
  subject: string;
  trailers: readonly (readonly [string, string])[];
  time: number;
}

export interface Published {
  commit: string;
  /** HEAD had it: there was nothing to commit. */
  already: boolean;
  /** What changed, by path in the repository; undefined is removed. */
  blobs: ReadonlyMap<string, string | undefined>;
}

/** A result for each entry prepared; or HEAD or the index moved meanwhile; or why it must wait. */
export type Outcome = {done: Published[]} | {moved: true} | {wait: string};

/** What lasts from batch to batch. */
export interface BatchTools {
  repository: Repository;
  importer: Importer;
  index: IndexCopy;
  place: Workplace;
  /** The file of a path of the repository in HEAD. `exact`: also whether it is a link. */
  leafInHead: (path: string, exact: boolean) => Promise<Leaf | undefined> | Leaf | undefined;
}

/** Commits on top of one HEAD: prepared one after the other, then published together. */
export class Batch {
  readonly head: Head;
  readonly #tools: BatchTools;
  readonly #config: GitConfig;
  readonly #tree = new TreeChanges();
  /** `nth`: of the new commits, which one has it; 0 is HEAD. */
  readonly #results: {nth: number; already: boolean; blobs: Published['blobs']}[] = [];
  readonly #subjects: string[] = [];
  /** The last change of each path, and the blob that HEAD has of it. */
  readonly #last = new Map<string, {change: PendingChange; inHead: string | undefined}>();
  /** Bytes handed to git. */
  held = 0;

  constructor(tools: BatchTools, config: GitConfig, head: Head) {
    this.#tools = tools;
    this.#config = config;
    this.head = head;
    tools.importer.begin(head.commit);
  }

  /** Throws what the file system throws. */
  async prepare(pending: Pending): Promise<void> {
    const blobs = new Map<string, string | undefined>();
    const files: [string, ImportedFile | undefined][] = [];
    for (const change of pending.changes) {
      const {path} = change;
      const exact = change.mode === '120000' || !this.#config.symlinks;
      const before = this.#tree.has(path) ? this.#tree.at(path) : await this.#tools.leafInHead(path, exact);
      const made = change.bytes && (await this.#fileOf(change, before?.mode));
      blobs.set(path, made?.leaf.id);
      if (before?.id === made?.leaf.id && before?.mode === made?.leaf.mode) continue;
      files.push([path, made?.file]);
      this.#last.set(path, {change, inHead: this.#last.has(path) ? this.#last.get(path)?.inHead : before?.id});
      this.#tree.set(path, made?.leaf);
    }
    const already = files.length === 0 && (this.head.commit !== undefined || this.#subjects.length > 0);
    if (!already) {
      const {author: person, committer} = this.#config;
      const author = pending.author === 'human' ? person : pending.author;
      const {time, subject, trailers} = pending;
      this.#tools.importer.commit({author, committer, time, subject, trailers, files});
      this.#subjects.push(subject);
    }
    this.#results.push({nth: this.#subjects.length, already, blobs});
  }

  async publish(): Promise<Outcome> {
    const {repository, importer, index, place} = this.#tools;
    const {head} = this;
    if (this.#subjects.length === 0) return this.#finished([]);
    if (await index.isUnmerged())
      return {wait: 'your merge is not finished (unmerged paths); edits are committed when it is done'};
    const [imported, prepared] = await Promise.allSettled([importer.finish(), this.#prepareIndex()]);
    if (imported.status === 'rejected') throw imported.reason;
    if (prepared.status === 'rejected') throw prepared.reason;
    if (prepared.value) return prepared.value;
    const {committer, createReflogs} = this.#config;
    const outcome = await moveHead({
      repository,
      index,
      place,
      head,
      tip: imported.value.at(-1) ?? '',
      reflog: {who: committer, what: reflogText(this.#subjects), create: createReflogs},
      git: (args, options) => git(repository.top, args, options),
    });
    if (outcome === 'moved') return {moved: true};
    return outcome === 'done' ? this.#finished(imported.value) : outcome;
  }

  /** Whatever was not published is dropped. */
  discard(): void {
    const {place, importer} = this.#tools;
    importer.release();
    for (const path of [place.index, `${place.index}.lock`, place.ref, place.record]) release(path);
  }

  #finished(ids: readonly string[]): Outcome {
    const all = [this.head.commit ?? '', ...ids];
    return {done: this.#results.map(({nth, already, blobs}) => ({commit: all[nth] ?? '', already, blobs}))};
  }

  /** The blob of a change as git would store it: filters of the person's apply. */
  async #fileOf(change: PendingChange, before: string | undefined): Promise<{leaf: Leaf; file: ImportedFile}> {
    const {filters, top, blobs} = this.#tools.repository;
    const {path, bytes = Buffer.alloc(0)} = change;
    const mode = modeOf(change, before, this.#config);
    if (change.mode !== '120000' && filters.mayApply(path, this.#config)) {
      const made = await filteredBlob(top, path, bytes);
      if ('failed' in made) throw new Error(`git hash-object: ${made.failed}`);
      return {leaf: {id: made.id, mode}, file: {id: made.id, mode}};
    }
    const id = blobs.id(bytes);
    const isThere = blobs.isThere(id);
    if (!isThere) this.held += bytes.length;
    return {leaf: {id, mode}, file: isThere ? {id, mode} : {bytes, mode}};
  }

  /** Why it must wait, if it must. */
  async #prepareIndex(): Promise<{wait: string} | undefined> {
    const {repository, index} = this.#tools;
    const changes: IndexChange[] = [];
    let pause = performance.now() + SLICE_MS;
    for (const [path, {change, inHead}] of this.#last) {
      if (isTakenBack(repository, change, inHead)) return {wait: `${path} was set back to what was committed`};
      const leaf = this.#tree.at(path);
      changes.push({path, leaf, isClean: () => leaf !== undefined && isClean(repository, change)});
      if (performance.now() < pause) continue;
      await turn();
      pause = performance.now() + SLICE_MS;
    }
    await index.prepare(changes);
    return undefined;
  }
}

/** Where the file system cannot say (core.fileMode, core.symlinks), what was committed last holds. */
function modeOf(change: PendingChange, before: string | undefined, config: GitConfig): string {
  const regular = change.mode !== '120000';
  if (regular && before === '120000' && !config.symlinks) return before;
  if (regular && !config.fileMode) return before === '100755' ? before : '100644';
  return change.mode;
}

function reflogText(subjects: readonly string[]): string {
  const last = oneLine(subjects.at(-1) ?? '').slice(0, MOST_SUBJECT);
  return subjects.length === 1 ? `commit: ${last}` : `commit: ${last} (and ${subjects.length - 1} before)`;
}
