import {join} from 'node:path';
import type {Published} from './git-batch.ts';
import {changedFiles, filesOf, headByGit, homePath, recentVersions, type Version} from './git-history.ts';
import {contentId, lstat} from './git-index-file.ts';
import {type Head, readHead, sameHead} from './git-refs.ts';
import type {Repository} from './git-repository.ts';

const REMEMBERED_PATHS = 5_000;
const REMEMBERED_VERSIONS = 20;

/** What HEAD holds of the home, kept up to date with our moves and noticing those of others. */
export class CommittedFiles {
  /** Blob of each file of the home. */
  readonly files: Map<string, string>;
  head: Head;
  readonly #repository: Repository;
  readonly #foreign = new Set<string>();
  /** When somebody else's commit changed a file last. */
  readonly #foreignAt = new Map<string, number>();
  readonly #versions = new Map<string, Version[]>();
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(repository: Repository, head: Head, files: Map<string, string>) {
    this.#repository = repository;
    this.head = head;
    this.files = files;
  }

  static async read(repository: Repository): Promise<CommittedFiles> {
    const head = await headOf(repository);
    return new CommittedFiles(repository, head, await filesOf(repository, head.commit));
  }

  /** Whoever reads or moves HEAD does so one after the other, or a move of ours is taken for somebody else's. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work, work);
    this.#turn = result.catch(() => {});
    return result;
  }

  /** Notice whether somebody moved HEAD: two small reads if nobody did. */
  look(): Promise<void> {
    return this.exclusively(async () => {
      const head = await headOf(this.#repository);
      if (!sameHead(this.head, head) && this.head.commit !== head.commit)
        for (const [path, blob] of await this.#differences(head.commit)) {
          this.#set(path, blob);
          this.#foreign.add(path);
          this.#foreignAt.set(path, Date.now());
        }
      this.head = head;
    });
  }

  /** Files changed by somebody else since the last call. */
  takeForeign(): string[] {
    const paths = [...this.#foreign];
    this.#foreign.clear();
    return paths;
  }

  /**
   * Whether somebody committed this file since then, and it is what they committed: a state from before would only
   * revert theirs.
   */
  isOvertaken(path: string, since: number): boolean {
    if ((this.#foreignAt.get(path) ?? 0) < since) return false;
    const file = join(this.#repository.home, path);
    const stat = lstat(file);
    return (stat && contentId(file, stat)) === this.files.get(path);
  }

  /** A commit of ours is in HEAD. */
  adopt({commit, blobs, already}: Published, cause: string | undefined): void {
    this.head = {branch: this.head.branch, commit};
    for (const [full, blob] of blobs) {
      const path = homePath(this.#repository, full);
      if (path === undefined) continue;
      this.#set(path, blob);
      if (blob && !already) this.#remember(path, {blob, commit, cause});
    }
  }

  async versions(path: string, n: number): Promise<Version[]> {
    const known = this.#versions.get(path) ?? [];
    return known.length >= n ? known.slice(0, n) : recentVersions(this.#repository, path, n);
  }

  #set(path: string, blob: string | undefined): void {
    if (blob) this.files.set(path, blob);
    else this.files.delete(path);
  }

  #remember(path: string, version: Version): void {
    const known = this.#versions.get(path) ?? [];
    this.#versions.delete(path);
    this.#versions.set(path, [version, ...known].slice(0, REMEMBERED_VERSIONS));
    const oldest = this.#versions.size > REMEMBERED_PATHS ? this.#versions.keys().next().value : undefined;
    if (oldest !== undefined) this.#versions.delete(oldest);
  }

  async #differences(to: string | undefined): Promise<Map<string, string | undefined>> {
    // What is remembered is history only as long as nobody else wrote any.
    this.#versions.clear();
    const from = this.head.commit;
    if (from && to) {
      try {
        return await changedFiles(this.#repository, from, to);
      } catch {
        // The old commit may be gone for good: compare whole lists.
      }
    }
    const now = await filesOf(this.#repository, to);
    const changed = new Map<string, string | undefined>();
    for (const [path, blob] of now) if (this.files.get(path) !== blob) changed.set(path, blob);
    for (const path of this.files.keys()) if (!now.has(path)) changed.set(path, undefined);
    return changed;
  }
}

/** Where branches are not files, git writes this into HEAD for those who would look there. */
const NO_FILES = 'refs/heads/.invalid';

async function headOf(repository: Repository): Promise<Head> {
  const head = readHead(repository.dirs);
  return 'commit' in head && head.branch !== NO_FILES ? head : headByGit(repository);
}
