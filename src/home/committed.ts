import {join} from 'node:path';
import type {PublishedEntry} from './git/git-batch.ts';
import {
  type CommittedVersion,
  changedFiles,
  EXECUTABLE,
  type Files,
  filesOf,
  homePath,
  isEdit,
  recentVersions,
  resolveHead,
  type Version,
  versionsInGit,
} from './git/git-history.ts';
import {contentId, lstat} from './git/git-index-file.ts';
import {type Head, sameHead} from './git/git-refs.ts';
import type {Repository} from './git/git-repository.ts';
import type {Leaf} from './git/git-trees.ts';

const REMEMBERED_PATHS = 5_000;
const REMEMBERED_VERSIONS = 20;
/** More commits than these, undone by one reset, come back as fewer. */
const UNDONE = 50;

/** What a commit held of the home, as an earlier run knew it. */
export interface CommittedAt {
  commit: string;
  /** Where the home was in the repository: for a home elsewhere it says nothing. */
  prefix: string;
  /** To be used once: the blobs are brought up to date in place. */
  files: Files;
}

/** What HEAD holds of the home, kept up to date with our moves and noticing those of others. */
export class CommittedFiles {
  /** Blob of each file of the home. */
  readonly files: Map<string, string>;
  readonly executable: Set<string>;
  head: Head;
  readonly #repository: Repository;
  readonly #foreign = new Set<string>();
  /** When somebody else's commit changed a file last. */
  readonly #foreignAt = new Map<string, number>();
  /** By path and blob: where HEAD was when somebody else's move took this version out of it. */
  readonly #left = new Map<string, string>();
  readonly #versions = new Map<string, Version[]>();
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(repository: Repository, head: Head, {blobs, executable}: Files) {
    this.#repository = repository;
    this.head = head;
    this.files = blobs;
    this.executable = executable;
  }

  /** `earlier`: what is known of a commit saves asking for the whole of it, or of one that is not far from it. */
  static async read(repository: Repository, earlier?: Promise<CommittedAt | undefined>): Promise<CommittedFiles> {
    const head = await resolveHead(repository);
    const known = await earlier;
    const files = known && (await followed(repository, known, head.commit));
    return new CommittedFiles(repository, head, files ?? (await filesOf(repository, head.commit)));
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
      const head = await resolveHead(this.#repository);
      if (!sameHead(this.head, head) && this.head.commit !== head.commit)
        for (const [path, leaf] of await this.#differences(head.commit)) {
          this.#leave(path, head.commit);
          this.#set(path, leaf?.id);
          this.setMode(path, leaf?.mode);
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
    if (!this.isForeign(path, since)) return false;
    const file = join(this.#repository.home, path);
    const stat = lstat(file);
    return (stat && contentId(file, stat)) === this.files.get(path);
  }

  /** Whether somebody else was seen to have committed this file since then. */
  isForeign(path: string, since: number): boolean {
    return (this.#foreignAt.get(path) ?? 0) >= since;
  }

  /** A commit of ours is in HEAD. `isTheirs`: of what the person did. */
  adopt({commit, blobs, already}: PublishedEntry, cause: string | undefined, isTheirs: boolean): void {
    this.head = {branch: this.head.branch, commit};
    for (const [full, blob] of blobs) {
      const path = homePath(this.#repository, full);
      if (path === undefined) continue;
      this.#set(path, blob);
      if (blob && !already)
        this.#remember(path, {blob, commit, cause, byPerson: isEdit(cause, isTheirs), at: Date.now()});
    }
  }

  setMode(path: string, mode: string | undefined): void {
    if (mode === EXECUTABLE) this.executable.add(path);
    else this.executable.delete(path);
  }

  async versions(path: string, n: number): Promise<Version[]> {
    const known = this.#versions.get(path) ?? [];
    return known.length >= n ? known.slice(0, n) : recentVersions(this.#repository, path, n);
  }

  /**
   * Oldest first: what a file was after the version that HEAD has now, up to this one, if somebody else moved HEAD back
   * behind it. Empty if that is not known.
   */
  async undone(path: string, blob: string): Promise<CommittedVersion[]> {
    const from = this.#left.get(`${path}\0${blob}`);
    const past = from === undefined ? [] : await versionsInGit(this.#repository, from, path, UNDONE);
    if (past[0]?.blob !== blob) return [];
    const now = this.files.get(path);
    const known = past.findIndex(version => version.blob === now);
    const since = known !== -1 ? known : now === undefined ? past.length : 1;
    return past.slice(0, since).reverse();
  }

  #set(path: string, blob: string | undefined): void {
    if (blob) this.files.set(path, blob);
    else this.files.delete(path);
  }

  #leave(path: string, to: string | undefined): void {
    const blob = this.files.get(path);
    if (!blob || !this.head.commit || !to) return;
    this.#left.set(`${path}\0${blob}`, this.head.commit);
    limit(this.#left);
  }

  #remember(path: string, version: Version): void {
    const known = this.#versions.get(path) ?? [];
    this.#versions.delete(path);
    this.#versions.set(path, [version, ...known].slice(0, REMEMBERED_VERSIONS));
    limit(this.#versions);
  }

  async #differences(to: string | undefined): Promise<Map<string, Leaf | undefined>> {
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
    const changed = new Map<string, Leaf | undefined>();
    for (const [path, id] of now.blobs)
      if (this.files.get(path) !== id || this.executable.has(path) !== now.executable.has(path))
        changed.set(path, {id, mode: now.executable.has(path) ? EXECUTABLE : ''});
    for (const path of this.files.keys()) if (!now.blobs.has(path)) changed.set(path, undefined);
    return changed;
  }
}

/** What was committed earlier, brought up to date; undefined if that cannot be. */
async function followed(
  repository: Repository,
  {commit, prefix, files}: CommittedAt,
  to: string | undefined,
): Promise<Files | undefined> {
  if (!commit || !to || prefix !== repository.prefix) return undefined;
  if (commit === to) return {blobs: files.blobs, executable: new Set(files.executable)};
  try {
    const {blobs} = files;
    const executable = new Set(files.executable);
    for (const [path, leaf] of await changedFiles(repository, commit, to)) {
      if (leaf) blobs.set(path, leaf.id);
      else blobs.delete(path);
      if (leaf?.mode === EXECUTABLE) executable.add(path);
      else executable.delete(path);
    }
    return {blobs, executable};
  } catch {
    // The old commit may be gone for good.
    return undefined;
  }
}

function limit(map: Map<string, unknown>): void {
  const oldest = map.size > REMEMBERED_PATHS ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
