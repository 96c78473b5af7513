import {join, resolve} from 'node:path';
import {type CommittedAt, CommittedFiles} from './committed.ts';
import type {CommittedEntry, JournalEntry, JournalOptions} from './entry.ts';
import {git} from './git/git.ts';
import {busyReason, unfinishedOperation} from './git/git-busy.ts';
import {commitsIn, committedOver, type RecentCommit} from './git/git-committed-over.ts';
import type {Person} from './git/git-config.ts';
import {
  blobBefore,
  type CommittedVersion,
  commitsSince,
  EXECUTABLE,
  recentVersions,
  type Version,
} from './git/git-history.ts';
import {mayBeIgnored} from './git/git-ignore.ts';
import {clearStaleGitLocks, clearStaleObjects} from './git/git-locks.ts';
import {objectId} from './git/git-objects.ts';
import {plainCommits} from './git/git-refs.ts';
import {openRepository, type Repository} from './git/git-repository.ts';
import {Publisher} from './publisher.ts';

export type {CommittedEntry, FileChange, JournalEntry, JournalOptions} from './entry.ts';

/** The home's history in git: one commit per state change, of exactly its paths, on the person's current branch. */
export class Journal {
  readonly #repository: Repository;
  readonly #committed: CommittedFiles;
  readonly #publisher: Publisher;

  private constructor(repository: Repository, committed: CommittedFiles, options: JournalOptions) {
    this.#repository = repository;
    this.#committed = committed;
    this.#publisher = new Publisher(repository, committed, options);
  }

  /** `earlier`: the files of a commit, as saved in the checkpoint. */
  static async open(
    dir: string,
    options: JournalOptions = {},
    earlier?: Promise<CommittedAt | undefined>,
  ): Promise<Journal> {
    const repository = await openRepository(dir);
    clearStaleGitLocks(repository.dirs);
    clearStaleObjects(repository.dirs);
    return new Journal(repository, await CommittedFiles.read(repository, earlier), options);
  }

  /** The blob id of these bytes in a sha1 repository. */
  static blobId(bytes: Buffer): string {
    return objectId('sha1', 'blob', bytes);
  }

  /** The blob id of these bytes in this repository. The person's git filters are not applied. */
  blobId(bytes: Buffer): string {
    return this.#repository.objects.id('blob', bytes);
  }

  /** The blob id of each file of the home in HEAD, as of the last publish or refresh. */
  get committed(): ReadonlyMap<string, string> {
    return this.#committed.files;
  }

  /** The commit that `committed` describes, and the path of the home in the repository. */
  get at(): {commit: string | undefined; prefix: string} {
    return {commit: this.#committed.head.commit, prefix: this.#repository.prefix};
  }

  /** Executable files in HEAD. */
  get executable(): ReadonlySet<string> {
    return this.#committed.executable;
  }

  /** Whether this mode differs from HEAD's, if the file system has modes: a person changed the executable bit. */
  async isOtherMode(path: string, mode: string): Promise<boolean> {
    if (this.#committed.executable.has(path) === (mode === EXECUTABLE)) return false;
    return mode !== '120000' && (await this.#repository.config.current()).fileMode;
  }

  /** How many changes are not published yet. */
  get count(): number {
    return this.#publisher.count;
  }

  /** Why publishing is blocked now, as text for the person. */
  get waiting(): string | undefined {
    return this.#publisher.patience.waiting;
  }

  /** Called when `waiting` changes. */
  set onWaiting(callback: (why: string | undefined) => void) {
    this.#publisher.patience.onChange = callback;
  }

  /** Whether more entries are likely within a moment. */
  set expecting(isLikely: () => boolean) {
    this.#publisher.expecting = isLikely;
  }

  /** Detect moves of HEAD. Returns files whose committed version somebody else has changed since the last call. */
  async refresh(): Promise<string[]> {
    await this.#committed.look();
    return this.#committed.takeForeign();
  }

  /** Whether somebody restored HEAD's version of this file since then, by `git reset` or the like. */
  isRestored(path: string, since: number): boolean {
    return this.#committed.isRestored(path, since);
  }

  /** Write bytes as a blob now and return its id. Throws errors of the file system. */
  keep(bytes: Buffer): string {
    return this.#repository.objects.write('blob', bytes);
  }

  async read(blob: string): Promise<Buffer | undefined> {
    return this.#repository.objects.read(blob) ?? (await this.#repository.cat.body(blob));
  }

  /** The blob id of a path before this commit. Undefined: no file. */
  before(commit: string, path: string): Promise<string | undefined> {
    return blobBefore(this.#repository, commit, path);
  }

  /** Commits in `commit..HEAD` with their `Cause` trailer, which a person's own commits lack. */
  since(commit: string): Promise<Map<string, string | undefined>> {
    return commitsSince(this.#repository, commit);
  }

  /** The last n versions of a path within 7 days, newest first. */
  versions(path: string, n: number): Promise<Version[]> {
    return this.#committed.versions(path, n);
  }

  /** Whether a person made this commit with `git commit`, not with a command that restores an older text. */
  isPlainCommit({commit, cause}: Version): boolean {
    return cause === undefined && plainCommits(this.#repository.dirs, new Set([commit])).has(commit);
  }

  /**
   * Files whose daemon-committed version a person committed over, with the blob id of that version. `since`: only read commits after
   * this one; default: the last ones.
   */
  committedOver(since: string | undefined): Promise<Map<string, string>> {
    return committedOver(this.#repository, since);
  }

  /** Commits in `commit..HEAD` with their changes, oldest first. Empty if git does not know the commit. */
  async commitsAfter(commit: string): Promise<RecentCommit[]> {
    return ((await commitsIn(this.#repository, `${commit}..HEAD`)) ?? []).reverse();
  }

  /** The last n versions of a path, however old. Slow. */
  allVersions(path: string, n: number): Promise<Version[]> {
    return recentVersions(this.#repository, path, n, true);
  }

  /**
   * The versions of a file up to this one, oldest first, that somebody else removed from HEAD by moving it back. Empty if unknown.
   */
  undone(path: string, blob: string): Promise<CommittedVersion[]> {
    return this.#committed.undone(path, blob);
  }

  /**
   * Queue one state change. Resolves when it is published, in the order of the calls, or when HEAD already has it. Retries until it
   * succeeds, and reports obstacles in `waiting`. Only `close` rejects.
   */
  add(entry: JournalEntry): Promise<CommittedEntry & {already?: true}> {
    const since = Date.now();
    const {prefix} = this.#repository;
    for (const {path} of entry.changes)
      if (/(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)|\0/i.test(path)) throw new Error(`${path} is not a valid path in a home`);
    const changes = entry.changes.map(({path, content, stat}) => ({
      path: `${prefix}${path}`,
      bytes: content?.bytes,
      mode: content?.mode ?? '',
      stat,
      since,
    }));
    const {author, subject, trailers, time = since} = entry;
    return this.#publisher.add(entry, {changes, author, subject, trailers, time});
  }

  /** The blob id of this path in the index: the staged version, or HEAD's. */
  async staged(path: string): Promise<string | undefined> {
    const found = await git(this.#repository.home, ['ls-files', '--stage', '-z', '--', path]);
    return found.stdout.split(' ')[1];
  }

  /** Whether the file has an unresolved merge conflict. */
  async isUnmerged(path: string): Promise<boolean> {
    return (await git(this.#repository.home, ['ls-files', '--unmerged', '-z', '--', path])).stdout !== '';
  }

  /** The person's running or unfinished git command, as text. */
  busy(): string | undefined {
    const {dirs, processes} = this.#repository;
    return busyReason(dirs, processes);
  }

  /** The person's unfinished merge, rebase or similar, which fails if files change meanwhile. */
  unfinished(): string | undefined {
    return unfinishedOperation(this.#repository.dirs);
  }

  /** The person's identity in git. */
  async person(): Promise<Person> {
    return (await this.#repository.config.current()).author;
  }

  /** True: git certainly does not ignore this path. Cheaper than `ignored`. */
  isSurelyKept(path: string): boolean {
    const {top, dirs, prefix} = this.#repository;
    const {config} = this.#publisher;
    if (!config) return false;
    const others = [join(dirs.common, 'info/exclude'), resolve(top, config.excludesFile)];
    return !mayBeIgnored({top, others}, `${prefix}${path}`);
  }

  /** Which of these paths git ignores. Tracked files are never ignored. */
  async ignored(paths: readonly string[]): Promise<Set<string>> {
    if (paths.length === 0) return new Set();
    const input = paths.map(path => `./${path}\0`).join('');
    const found = await git(this.#repository.home, ['check-ignore', '--stdin', '-z'], {input, patterns: true});
    const names = found.stdout.split('\0').filter(Boolean);
    return new Set(names.map(name => name.slice(2)));
  }

  /** Wait at most `ms`. Returns whether all entries are published. */
  flush(ms?: number): Promise<boolean> {
    return this.#publisher.flush(ms);
  }

  /** Rejects the entries that are not published yet. */
  async close(): Promise<void> {
    await this.#publisher.close();
    this.#repository.cat.close();
  }
}
