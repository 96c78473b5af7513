import {resolve} from 'node:path';
import {type GitOptions, git} from './git.ts';
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
import {busyReason, lockText} from './git-busy.ts';
import {cleanMessage, messageOf, stampOf} from './git-commit.ts';
import type {GitConfig, Person} from './git-config.ts';
import {release, type Workplace} from './git-locks.ts';
import type {Head} from './git-refs.ts';
import type {Repository} from './git-repository.ts';
import type {Leaf} from './git-trees.ts';

/**
 * A batch made with git commands and a separate index, for repositories that `FastBatch` cannot write: other object formats, other ref
 * storage, an index of version 4, split or sparse. Slow but correct.
 */
export class PlainBatch implements CommitBatch {
  readonly head: Head;
  readonly held = 0;
  readonly #repository: Repository;
  readonly #place: Workplace;
  readonly #config: GitConfig;
  readonly #results: PublishedEntry[] = [];
  readonly #subjects: string[] = [];
  readonly #final = new Map<string, Leaf | undefined>();
  #tip: string | undefined;

  private constructor(repository: Repository, place: Workplace, config: GitConfig, head: Head) {
    this.#repository = repository;
    this.#place = place;
    this.#config = config;
    this.head = head;
    this.#tip = head.commit;
  }

  static async begin(repository: Repository, place: Workplace, config: GitConfig, head: Head): Promise<PlainBatch> {
    const batch = new PlainBatch(repository, place, config, head);
    release(place.index);
    await batch.#git(['read-tree', head.commit ?? '--empty'], {}, true);
    return batch;
  }

  async prepare(pending: PendingEntry): Promise<void> {
    const wanted: {leaf: Leaf | undefined; change: PendingChange}[] = [];
    const blobs = new Map<string, string | undefined>();
    for (const change of pending.changes) {
      const before = await this.#leafAt(change.path);
      const leaf = change.bytes && {
        id: await blobOf(this.#repository, this.#repository.objects, change, this.#config),
        mode: modeOf(change, before?.mode, this.#config),
      };
      blobs.set(change.path, leaf?.id);
      if (!isSameLeaf(before, leaf)) wanted.push({leaf, change});
    }
    if (wanted.length === 0 && this.#tip) {
      this.#results.push({commit: this.#tip, already: true, blobs});
      return;
    }
    const leaves = new Map(wanted.map(({leaf, change}) => [change.path, leaf]));
    await this.#git(stage, {input: this.#lines(leaves)}, true);
    const tree = await this.#git(['write-tree'], {}, true);
    const author = pending.author === 'human' ? this.#config.author : pending.author;
    const parents = this.#tip ? ['-p', this.#tip] : [];
    const commit = await this.#git(['commit-tree', tree, ...parents, '-F', '-'], {
      input: `${messageOf(pending.subject, pending.trailers)}\n`,
      extra: {...who('AUTHOR', author, pending.time), ...who('COMMITTER', this.#config.committer, pending.time)},
    });
    this.#tip = commit;
    for (const [path, leaf] of leaves) {
      // Keep the order of last changes: a folder may replace a file.
      this.#final.delete(path);
      this.#final.set(path, leaf);
    }
    this.#subjects.push(pending.subject);
    this.#results.push({commit, already: false, blobs});
  }

  async publish(): Promise<BatchOutcome> {
    if (this.#tip === undefined || this.#tip === this.head.commit) return {done: this.#results};
    const {top, dirs, processes} = this.#repository;
    const why = busyReason(dirs, processes);
    if (why) return {wait: why};
    // The index first: an index ahead of HEAD reverts nothing.
    const staged = await git(top, stage, {input: this.#lines(this.#final)});
    if (staged.code !== 0) return {wait: `git update-index: ${staged.stderr.trim()}`};
    const old = this.head.commit ?? '0'.repeat(this.#tip.length);
    const moved = await git(top, ['update-ref', '-m', reflogText(this.#subjects), 'HEAD', this.#tip, old], {
      extra: who('COMMITTER', this.#config.committer, Date.now()),
    });
    if (moved.code === 0) return {done: this.#results};
    const lock = /'([^']+\.lock)': File exists/.exec(moved.stderr)?.[1];
    return lock === undefined ? {moved: true} : {wait: lockText(resolve(top, lock))};
  }

  discard(): void {
    release(this.#place.index);
    release(`${this.#place.index}.lock`);
  }

  async #leafAt(path: string): Promise<Leaf | undefined> {
    const line = await this.#git(['ls-files', '-s', '-z', '--', path], {}, true);
    const [, mode, id, name] = /^(\d+) ([0-9a-f]+) 0\t([^\0]*)\0/.exec(line) ?? [];
    return mode && id && name === path ? {mode, id} : undefined;
  }

  #lines(leaves: ReadonlyMap<string, Leaf | undefined>): string {
    const none = `0 ${'0'.repeat(this.#repository.format === 'sha1' ? 40 : 64)}`;
    return [...leaves].map(([path, leaf]) => `${leaf ? `${leaf.mode} ${leaf.id}` : none}\t${path}\0`).join('');
  }

  /** Run git and return its output. Throws its error message. `own`: use this batch's index instead of the person's. */
  async #git(args: readonly string[], options: GitOptions, own = false): Promise<string> {
    const extra = {...options.extra, ...(own ? {GIT_INDEX_FILE: this.#place.index} : {})};
    // This batch's index must not be split, even if the person's is.
    const done = await git(this.#repository.top, ['-c', 'core.splitIndex=false', ...args], {...options, extra});
    if (done.code !== 0) throw new Error(`git ${args[0]}: ${done.stderr.trim()}`);
    return done.stdout.endsWith('\n') ? done.stdout.trim() : done.stdout;
  }
}

const stage = ['update-index', '--add', '--replace', '-z', '--index-info'];

function who(role: 'AUTHOR' | 'COMMITTER', {name, email}: Person, time: number): Record<string, string> {
  return {
    [`GIT_${role}_NAME`]: cleanMessage(name) || 'agentdir',
    [`GIT_${role}_EMAIL`]: cleanMessage(email) || 'agentdir@localhost',
    [`GIT_${role}_DATE`]: stampOf(time),
  };
}
