import {setImmediate as turn} from 'node:timers/promises';
import {
  type BatchOutcome,
  blobOf,
  type CommitBatch,
  isSameLeaf,
  modeOf,
  type PendingChange,
  type PendingEntry,
  type PublishedEntry,
  reflogText,
} from './git-batch.ts';
import {cleanStat, isTakenBack} from './git-clean.ts';
import {commitBody, personText} from './git-commit.ts';
import type {GitConfig} from './git-config.ts';
import type {IndexChange} from './git-index.ts';
import type {IndexFile} from './git-index-file.ts';
import {release, type Workplace} from './git-locks.ts';
import {moveHead} from './git-move-head.ts';
import type {Head} from './git-refs.ts';
import {mustRead, type Repository} from './git-repository.ts';
import {StagedObjects} from './git-staged.ts';
import {
  emptyTree,
  isLoaded,
  type Leaf,
  leafAt,
  loadPath,
  loadTree,
  setLeaf,
  type Tree,
  type TreeStore,
  treeNames,
  writeTrees,
} from './git-trees.ts';

const SLICE_MS = 8;

/** State shared by all batches. */
export interface FastState {
  repository: Repository;
  index: IndexFile;
  place: Workplace;
  /** The last commit and its tree. */
  root: Tree | undefined;
  commit: string | undefined;
}

/** Writes objects, index and branch directly. Runs git only to read packed objects. */
export class FastBatch implements CommitBatch {
  readonly head: Head;
  readonly #state: FastState;
  readonly #config: GitConfig;
  readonly #store: TreeStore;
  readonly #staged: StagedObjects;
  readonly #root: Tree;
  readonly #results: PublishedEntry[] = [];
  readonly #subjects: string[] = [];
  readonly #final = new Map<string, {change: PendingChange; names: string[]; base: {id: string | undefined}}>();
  #tip: string | undefined;

  private constructor(
    state: FastState,
    config: GitConfig,
    head: Head,
    staged: StagedObjects,
    store: TreeStore,
    root: Tree,
  ) {
    this.#staged = staged;
    this.#state = state;
    this.#config = config;
    this.head = head;
    this.#store = store;
    this.#root = root;
    this.#tip = head.commit;
  }

  static async begin(state: FastState, config: GitConfig, head: Head): Promise<FastBatch> {
    const {repository} = state;
    const staged = new StagedObjects(repository.objects);
    const store: TreeStore = {
      load: id => mustRead(repository, id),
      write: (raw, before) => staged.write('tree', raw, before),
    };
    let root = state.root;
    if (!root || state.commit === undefined || state.commit !== head.commit)
      root = head.commit ? await loadTree(store, await treeOf(repository, head.commit), state.root) : emptyTree();
    // The batch changes the tree in place, so it matches HEAD again only after a publish.
    state.root = root;
    state.commit = undefined;
    return new FastBatch(state, config, head, staged, store, root);
  }

  async prepare(pending: PendingEntry): Promise<void> {
    const {repository} = this.#state;
    const wanted: {names: string[]; leaf: Leaf | undefined; before: Leaf | undefined; change: PendingChange}[] = [];
    const blobs = new Map<string, string | undefined>();
    for (const change of pending.changes) {
      const names = treeNames(change.path);
      if (!isLoaded(this.#root, names)) await loadPath(this.#store, this.#root, names);
      const before = leafAt(this.#root, names);
      const leaf = change.bytes && {
        id: await blobOf(repository, this.#staged, change, this.#config, before?.id),
        mode: modeOf(change, before?.mode, this.#config),
      };
      blobs.set(change.path, leaf?.id);
      if (!isSameLeaf(before, leaf)) wanted.push({names, leaf, before, change});
    }
    if (wanted.length === 0 && this.#tip) {
      this.#results.push({commit: this.#tip, already: true, blobs});
      return;
    }
    for (const {names, leaf} of wanted) setLeaf(this.#root, names, leaf);
    const body = commitBody({
      tree: writeTrees(this.#store, this.#root),
      parent: this.#tip,
      author: pending.author === 'human' ? this.#config.author : pending.author,
      committer: this.#config.committer,
      time: pending.time,
      subject: pending.subject,
      trailers: pending.trailers,
    });
    const commit = this.#staged.write('commit', body);
    this.#tip = commit;
    for (const {names, change, before} of wanted) {
      const base = this.#final.get(change.path)?.base ?? {id: before?.id};
      this.#final.set(change.path, {change, names, base});
    }
    this.#subjects.push(pending.subject);
    this.#results.push({commit, already: false, blobs});
  }

  get held(): number {
    return this.#staged.bytes;
  }

  async publish(): Promise<BatchOutcome> {
    const {repository, index, place} = this.#state;
    const tip = this.#tip;
    if (tip === undefined || tip === this.head.commit) return this.#finish();
    const read = index.read();
    if ('unsupported' in read) return {moved: true};
    if (read.unmerged)
      return {wait: 'your merge is not finished (unmerged paths); edits are committed when it is done'};
    await this.#staged.flush();
    await turn();
    const verified = Date.now();
    const changes = await this.#indexChanges();
    if ('wait' in changes) return changes;
    await turn();
    const bytes = await index.writeChanged(place.index, changes, verified);
    await turn();
    const {committer, createReflogs} = this.#config;
    const outcome = moveHead({
      repository,
      index,
      place,
      head: this.head,
      tip,
      adopt: () => index.adopt(bytes, changes),
      reflog: {who: personText(committer), what: reflogText(this.#subjects), create: createReflogs},
    });
    return outcome === 'moved' ? {moved: true} : outcome === 'done' ? this.#finish() : outcome;
  }

  discard(): void {
    const {place} = this.#state;
    for (const path of [place.index, place.ref, place.record]) release(path);
  }

  #finish(): BatchOutcome {
    this.#state.commit = this.#tip;
    return {done: this.#results};
  }

  async #indexChanges(): Promise<IndexChange[] | {wait: string}> {
    const {top} = this.#state.repository;
    const changes: IndexChange[] = [];
    let pause = performance.now() + SLICE_MS;
    for (const {change, names, base} of this.#final.values()) {
      if (isTakenBack(top, change, base.id)) return {wait: `${change.path} was reset to its committed version`};
      // Read the final tree: a later change may have replaced this file with a folder.
      const leaf = leafAt(this.#root, names);
      const name = Buffer.from(change.path, 'utf8');
      changes.push({
        name,
        entry: leaf && {id: leaf.id, mode: Number.parseInt(leaf.mode, 8), stat: cleanStat(top, change)},
      });
      if (performance.now() < pause) continue;
      await turn();
      pause = performance.now() + SLICE_MS;
    }
    return changes;
  }
}

async function treeOf(repository: Repository, commit: string): Promise<string> {
  return (await mustRead(repository, commit)).toString('latin1', 5, 45);
}
