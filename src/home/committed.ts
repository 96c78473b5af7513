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
import {type Head, isMovedSince, sameHead} from './git/git-refs.ts';
import type {Repository} from './git/git-repository.ts';
import type {Leaf} from './git/git-trees.ts';

const REMEMBERED_PATHS = 5_000;
const REMEMBERED_VERSIONS = 20;
/** How many versions of a file that a reset removed are committed again at most. */
const UNDONE = 50;

/** The home's files in a commit, as saved by an earlier run. */
export interface CommittedAt {
  commit: string;
  /** The path of the home in the repository. Ignored if the home has moved since. */
  prefix: string;
  /** Use once: the blobs are updated in place. */
  files: Files;
}

/** The home's files in HEAD. Follows the daemon's commits and detects moves of HEAD by others. */
export class CommittedFiles {
  /** The blob id of each file of the home. */
  readonly files: Map<string, string>;
  readonly executable: Set<string>;
  head: Head;
  readonly #repository: Repository;
  readonly #foreign = new Set<string>();
  /** When a foreign commit last changed a file. */
  readonly #foreignAt = new Map<string, number>();
  /** By path and blob: the commit of HEAD before a foreign move removed this version from it. */
  readonly #headBefore = new Map<string, string>();
  readonly #versions = new Map<string, Version[]>();
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(repository: Repository, head: Head, {blobs, executable}: Files) {
    this.#repository = repository;
    this.head = head;
    this.files = blobs;
    this.executable = executable;
  }

  /** `earlier`: the files of an earlier commit, which saves listing the whole tree. */
  static async read(repository: Repository, earlier?: Promise<CommittedAt | undefined>): Promise<CommittedFiles> {
    const head = await resolveHead(repository);
    const known = await earlier;
    const files = known && (await followed(repository, known, head.commit));
    return new CommittedFiles(repository, head, files ?? (await filesOf(repository, head.commit)));
  }

  /** Serialize reads and moves of HEAD, so that the daemon's own move is not taken for a foreign one. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work, work);
    this.#turn = result.catch(() => {});
    return result;
  }

  /** Detect whether somebody moved HEAD. Costs two small reads if nobody did. */
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

  /** Files whose committed version somebody else has changed since the last call. */
  takeForeign(): string[] {
    const paths = [...this.#foreign];
    this.#foreign.clear();
    return paths;
  }

  /**
   * Whether somebody committed this file since then and the file still holds that version. Committing an older state would revert
   * their commit.
   */
  isOvertaken(path: string, since: number): boolean {
    return this.isForeign(path, since) && this.#holdsHead(path);
  }

  /**
   * Whether somebody restored HEAD's version of the file since then: they committed the file, or used `git reset` or the like, which
   * restores also files that are the same in both commits.
   */
  isRestored(path: string, since: number): boolean {
    return (this.isForeign(path, since) || isMovedSince(this.#repository.dirs, since)) && this.#holdsHead(path);
  }

  #holdsHead(path: string): boolean {
    const file = join(this.#repository.home, path);
    const stat = lstat(file);
    return (stat && contentId(file, stat)) === this.files.get(path);
  }

  /** Whether somebody else has committed this file since then. */
  isForeign(path: string, since: number): boolean {
    return (this.#foreignAt.get(path) ?? 0) >= since;
  }

  /** The daemon's commit is in HEAD. `isTheirs`: it records a person's edit. */
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
   * The versions of a file, oldest first, that a foreign move removed from HEAD: those after HEAD's current version, up to this one.
   * Empty if unknown.
   */
  async undone(path: string, blob: string): Promise<CommittedVersion[]> {
    const from = this.#headBefore.get(`${path}\0${blob}`);
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
    this.#headBefore.set(`${path}\0${blob}`, this.head.commit);
    limit(this.#headBefore);
  }

  #remember(path: string, version: Version): void {
    const known = this.#versions.get(path) ?? [];
    this.#versions.delete(path);
    this.#versions.set(path, [version, ...known].slice(0, REMEMBERED_VERSIONS));
    limit(this.#versions);
  }

  async #differences(to: string | undefined): Promise<Map<string, Leaf | undefined>> {
    // The remembered versions may no longer be HEAD's history.
    this.#versions.clear();
    const from = this.head.commit;
    if (from && to) {
      try {
        return await changedFiles(this.#repository, from, to);
      } catch {
        // Git may have pruned the old commit: compare whole trees.
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

/** Update the files of an earlier commit to another commit. Undefined if that is not possible. */
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
    // Git may have pruned the old commit.
    return undefined;
  }
}

function limit(map: Map<string, unknown>): void {
  const oldest = map.size > REMEMBERED_PATHS ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
