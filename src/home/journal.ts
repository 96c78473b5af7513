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
import {clearStaleGitLocks} from './git/git-locks.ts';
import {objectId} from './git/git-objects.ts';
import {plainCommits} from './git/git-refs.ts';
import {openRepository, type Repository} from './git/git-repository.ts';
import {Publisher} from './publisher.ts';

export type {CommittedEntry, FileChange, JournalEntry, JournalOptions} from './entry.ts';

/** So many waiting, a blob of its own for each costs more than it saves: they go into one pack, a moment later. */
const FLOODED = 16;
/** Larger ones are compressed when the commit is prepared, perhaps as a difference. */
const LARGE = 16 * 1024;

/** The home's history: one commit for each state change, of exactly its paths, on whatever branch the person is on. */
export class Journal {
  readonly #repository: Repository;
  readonly #committed: CommittedFiles;
  readonly #publisher: Publisher;

  private constructor(repository: Repository, committed: CommittedFiles, options: JournalOptions) {
    this.#repository = repository;
    this.#committed = committed;
    this.#publisher = new Publisher(repository, committed, options);
  }

  /** `earlier`: what a commit held, if an earlier run left word. */
  static async open(
    dir: string,
    options: JournalOptions = {},
    earlier?: Promise<CommittedAt | undefined>,
  ): Promise<Journal> {
    const repository = await openRepository(dir);
    clearStaleGitLocks(repository.dirs);
    return new Journal(repository, await CommittedFiles.read(repository, earlier), options);
  }

  /** The id these bytes have as a blob, in a repository of the usual object format. */
  static blobId(bytes: Buffer): string {
    return objectId('sha1', 'blob', bytes);
  }

  /** The same in this repository, whatever its object format. Filters of the person's are not applied. */
  blobId(bytes: Buffer): string {
    return this.#repository.objects.id('blob', bytes);
  }

  /** Blob of each file of the home in HEAD, as of the last publish or refresh. */
  get committed(): ReadonlyMap<string, string> {
    return this.#committed.files;
  }

  /** The commit that `committed` is of, and where in the repository the home is. */
  get at(): {commit: string | undefined; prefix: string} {
    return {commit: this.#committed.head.commit, prefix: this.#repository.prefix};
  }

  /** Files that HEAD has as executable. */
  get executable(): ReadonlySet<string> {
    return this.#committed.executable;
  }

  /** Whether this mode is not what HEAD has of the file, where modes mean anything: the person made it executable, or no longer. */
  async isOtherMode(path: string, mode: string): Promise<boolean> {
    if (this.#committed.executable.has(path) === (mode === EXECUTABLE)) return false;
    return mode !== '120000' && (await this.#repository.config.current()).fileMode;
  }

  /** How many changes are not published yet. */
  get count(): number {
    return this.#publisher.count;
  }

  /** Why nothing is published now, in words for the person. */
  get waiting(): string | undefined {
    return this.#publisher.patience.waiting;
  }

  /** Called when `waiting` changes. */
  set onWaiting(tell: (why: string | undefined) => void) {
    this.#publisher.patience.onChange = tell;
  }

  /** Whether more is likely to be added within a moment. */
  set expecting(tell: () => boolean) {
    this.#publisher.expecting = tell;
  }

  /** Look whether HEAD moved; files whose committed blob was changed by somebody else since the last call. */
  async refresh(): Promise<string[]> {
    await this.#committed.look();
    return this.#committed.takeForeign();
  }

  /** Whether somebody else was seen to have committed this file since then. */
  isForeign(path: string, since: number): boolean {
    return this.#committed.isForeign(path, since);
  }

  /** Write bytes as a blob now; its id. Throws what the file system throws. */
  keep(bytes: Buffer): string {
    return this.#repository.objects.write('blob', bytes);
  }

  /** Whether its bytes were written lately; no answer for what is older. */
  isKept(blob: string): boolean {
    return this.#repository.objects.isWritten(blob);
  }

  async read(blob: string): Promise<Buffer | undefined> {
    return this.#repository.objects.read(blob) ?? (await this.#repository.cat.body(blob));
  }

  /** The blob that a path was before this commit; undefined: it was not there. */
  before(commit: string, path: string): Promise<string | undefined> {
    return blobBefore(this.#repository, commit, path);
  }

  /** Commits that HEAD has and this one has not, and the cause of each: undefined for a person's own. */
  since(commit: string): Promise<Map<string, string | undefined>> {
    return commitsSince(this.#repository, commit);
  }

  /** Newest first: what this path was, at most n and 7 days back. */
  versions(path: string, n: number): Promise<Version[]> {
    return this.#committed.versions(path, n);
  }

  /** Whether a person made this commit of what their files, or their index, had: by `git commit`, not by moving to another text. */
  isPlainCommit({commit, cause}: Version): boolean {
    return cause === undefined && plainCommits(this.#repository.dirs, new Set([commit])).has(commit);
  }

  /**
   * Files that a person committed over what a daemon had committed, with the blob of that. `since`: only what is not in this
   * commit; else of the last ones.
   */
  committedOver(since: string | undefined): Promise<Map<string, string>> {
    return committedOver(this.#repository, since);
  }

  /** Commits that HEAD has and this one has not, oldest first, with what they changed. None if git does not know the commit. */
  async commitsAfter(commit: string): Promise<RecentCommit[]> {
    return ((await commitsIn(this.#repository, `${commit}..HEAD`)) ?? []).reverse();
  }

  /** The same, however far back. Slow. */
  allVersions(path: string, n: number): Promise<Version[]> {
    return recentVersions(this.#repository, path, n, true);
  }

  /**
   * Oldest first: the versions of a file, up to this one, that somebody else took out of HEAD by moving it back. Empty if
   * that is not known.
   */
  undone(path: string, blob: string): Promise<CommittedVersion[]> {
    return this.#committed.undone(path, blob);
  }

  /**
   * Queue one state change. Its blobs are written at once, unless many wait: then with the rest. It resolves when it is
   * published, in the order of the calls, or when it turned out to be in HEAD already. What stands in the way is waited
   * for and told in `waiting`; only `close` rejects.
   */
  add(entry: JournalEntry): Promise<CommittedEntry & {already?: true}> {
    const since = Date.now();
    const {objects, filters, prefix} = this.#repository;
    const {config} = this.#publisher;
    for (const {path} of entry.changes)
      if (/(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)|\0/i.test(path)) throw new Error(`${path} is no path of a home`);
    const changes = entry.changes.map(({path, content, stat}) => ({
      path: `${prefix}${path}`,
      bytes: content?.bytes,
      mode: content?.mode ?? '',
      stat,
      since,
    }));
    for (const {bytes, path} of this.#publisher.count < FLOODED ? changes : []) {
      try {
        if (bytes && bytes.length < LARGE && config && !filters.mayApply(path, config)) objects.write('blob', bytes);
      } catch {
        // Tried again when the commit is prepared; what stands in the way is told there.
      }
    }
    const {author, subject, trailers, time = since} = entry;
    return this.#publisher.add(entry, {changes, author, subject, trailers, time});
  }

  /** Blob of this path in the index: what the person has staged, or what HEAD has. */
  async staged(path: string): Promise<string | undefined> {
    const found = await git(this.#repository.home, ['ls-files', '--stage', '-z', '--', path]);
    return found.stdout.split(' ')[1];
  }

  /** Whether git waits for the person to resolve a conflict in this file. */
  async isUnmerged(path: string): Promise<boolean> {
    return (await git(this.#repository.home, ['ls-files', '--unmerged', '-z', '--', path])).stdout !== '';
  }

  /** What a person is in the middle of, in words; undefined if nothing. */
  busy(): string | undefined {
    const {dirs, processes} = this.#repository;
    return busyReason(dirs, processes);
  }

  /** A merge, rebase or the like that the person has begun: git minds files that change meanwhile. */
  unfinished(): string | undefined {
    return unfinishedOperation(this.#repository.dirs);
  }

  /** Who works here, as git knows them. */
  async person(): Promise<Person> {
    return (await this.#repository.config.current()).author;
  }

  /** Whether git ignores this path for certain not, which costs less than asking git. */
  isSurelyKept(path: string): boolean {
    const {top, dirs, prefix} = this.#repository;
    const {config} = this.#publisher;
    if (!config) return false;
    const others = [join(dirs.common, 'info/exclude'), resolve(top, config.excludesFile)];
    return !mayBeIgnored({top, others}, `${prefix}${path}`);
  }

  /** Which of these paths git ignores; tracked ones never are. */
  async ignored(paths: readonly string[]): Promise<Set<string>> {
    if (paths.length === 0) return new Set();
    const input = paths.map(path => `./${path}\0`).join('');
    const found = await git(this.#repository.home, ['check-ignore', '--stdin', '-z'], {input, patterns: true});
    const names = found.stdout.split('\0').filter(Boolean);
    return new Set(names.map(name => name.slice(2)));
  }

  /** Whether all that was added is published, after at most `ms`. */
  flush(ms?: number): Promise<boolean> {
    return this.#publisher.flush(ms);
  }

  /** What is not published yet stays in the files, and is rejected here. */
  async close(): Promise<void> {
    await this.#publisher.close();
    this.#repository.cat.close();
  }
}
