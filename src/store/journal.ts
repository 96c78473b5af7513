import {join, resolve} from 'node:path';
import {setImmediate as turn} from 'node:timers/promises';
import {type CommittedAt, CommittedFiles} from './committed.ts';
import type {Committed, Entry, JournalOptions} from './entry.ts';
import {git} from './git.ts';
import type {Batch, Outcome, Pending} from './git-batch.ts';
import {busy, isUnfinished} from './git-busy.ts';
import {STAMP_MS} from './git-clean.ts';
import type {GitConfig, Person} from './git-config.ts';
import {FastBatch, type FastState} from './git-fast-batch.ts';
import {EXECUTABLE, type PastVersion, recentVersions, type Version} from './git-history.ts';
import {mayBeIgnored} from './git-ignore.ts';
import {IndexFile} from './git-index-file.ts';
import {clearLeftovers, workplace} from './git-locks.ts';
import {objectId} from './git-objects.ts';
import {PlainBatch} from './git-plain-batch.ts';
import {readHead} from './git-refs.ts';
import {openRepository, type Repository} from './git-repository.ts';
import {Maintenance} from './maintenance.ts';
import {failureWords, Patience} from './patience.ts';

export type {Committed, Entry, FileChange, JournalOptions} from './entry.ts';

interface Queued {
  entry: Entry;
  pending: Pending;
  resolve: (done: Committed & {already?: true}) => void;
  reject: (error: Error) => void;
}

const defaults = {minGapMs: 200, maxBatch: 1_000, idleMs: 20_000, maxLoose: 6_700};
const SLICE_MS = 8;
/** So many publishes may come early after a quiet moment: what is dirty for long is in the person's way, too. */
const AHEAD = 2;
/** So many waiting, a blob of its own for each costs more than it saves: they go into one pack, a moment later. */
const FLOODED = 16;
/** Larger ones are compressed when the commit is prepared, perhaps as a difference. */
const LARGE = 16 * 1024;
const MAX_HELD = 16 * 1024 * 1024;
/** So long more is waited for if it is likely to come: publishing takes its time, and many cost as much as one. */
const EXPECTING_MS = 60;
/** First and longest pause before the next try. */
const RETRY_MS = {busy: [10, 100], failed: [50, 2_000]} as const;

/** The home's history: one commit for each state change, of exactly its paths, on whatever branch the person is on. */
export class Journal {
  readonly #repository: Repository;
  readonly #state: FastState;
  readonly #options: Required<JournalOptions>;
  readonly #committed: CommittedFiles;
  readonly #maintenance: Maintenance;
  readonly #patience = new Patience();
  readonly #queue: Queued[] = [];
  /** Known once there was something to commit. */
  #config: GitConfig | undefined;
  #closed = false;
  #running: Promise<void> | undefined;
  #wake = () => {};
  /** When the next publish would come if they came evenly, one in `minGapMs`. */
  #even = Number.NEGATIVE_INFINITY;

  private constructor(repository: Repository, committed: CommittedFiles, options: JournalOptions) {
    this.#repository = repository;
    this.#committed = committed;
    this.#options = {...defaults, ...options};
    this.#maintenance = new Maintenance(repository, this.#options);
    const {dirs, top} = repository;
    const index = new IndexFile(dirs.own, top);
    this.#state = {repository, index, place: workplace(dirs), root: undefined, commit: undefined};
  }

  /** `earlier`: what a commit held, if an earlier run left word. */
  static async open(
    dir: string,
    options: JournalOptions = {},
    earlier?: Promise<CommittedAt | undefined>,
  ): Promise<Journal> {
    const repository = await openRepository(dir);
    clearLeftovers(repository.dirs);
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

  /** Why nothing is published now, in words for the person. */
  get waiting(): string | undefined {
    return this.#patience.waiting;
  }

  /** Called when `waiting` changes. */
  set onWaiting(tell: (why: string | undefined) => void) {
    this.#patience.onChange = tell;
  }

  /** Whether more is likely to be added within a moment. */
  expecting: () => boolean = () => false;

  /** Look whether HEAD moved; files whose committed blob was changed by somebody else since the last call. */
  async refresh(): Promise<string[]> {
    await this.#committed.look();
    return this.#committed.takeForeign();
  }

  /** Write bytes as a blob now; its id. Throws what the file system throws. */
  keep(bytes: Buffer): string {
    return this.#repository.objects.write('blob', bytes);
  }

  async read(blob: string): Promise<Buffer | undefined> {
    return this.#repository.objects.read(blob) ?? (await this.#repository.cat.body(blob));
  }

  /** Newest first: what this path was, at most n and 7 days back. */
  versions(path: string, n: number): Promise<Version[]> {
    return this.#committed.versions(path, n);
  }

  /** The same, however far back. Slow. */
  allVersions(path: string, n: number): Promise<Version[]> {
    return recentVersions(this.#repository, path, n, true);
  }

  /**
   * Oldest first: the versions of a file, up to this one, that somebody else took out of HEAD by moving it back. Empty if
   * that is not known.
   */
  undone(path: string, blob: string): Promise<PastVersion[]> {
    return this.#committed.undone(path, blob);
  }

  /**
   * Queue one state change. Its blobs are written at once, unless many wait: then with the rest. It resolves when it is
   * published, in the order of the calls, or when it turned out to be in HEAD already. What stands in the way is waited
   * for and told in `waiting`; only `close` rejects.
   */
  add(entry: Entry): Promise<Committed & {already?: true}> {
    const since = Date.now();
    const {objects, filters, prefix} = this.#repository;
    for (const {path} of entry.changes)
      if (/(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)|\0/i.test(path)) throw new Error(`${path} is no path of a home`);
    const changes = entry.changes.map(({path, content, stat}) => ({
      path: `${prefix}${path}`,
      bytes: content?.bytes,
      mode: content?.mode ?? '',
      stat,
      since,
    }));
    for (const {bytes, path} of this.#queue.length < FLOODED ? changes : []) {
      try {
        if (bytes && bytes.length < LARGE && this.#config && !filters.mayApply(path, this.#config))
          objects.write('blob', bytes);
      } catch {
        // Tried again when the commit is prepared; what stands in the way is told there.
      }
    }
    const {author, subject, trailers} = entry;
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error('the journal is closed'));
      this.#queue.push({entry, pending: {changes, author, subject, trailers, time: since}, resolve, reject});
      this.#maintenance.postpone();
      this.#wake();
      this.#running ??= this.#run();
    });
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
    return busy(dirs, processes);
  }

  /** A merge, rebase or the like that the person has begun: git minds files that change meanwhile. */
  unfinished(): string | undefined {
    return isUnfinished(this.#repository.dirs);
  }

  /** Who works here, as git knows them. */
  async person(): Promise<Person> {
    return (await this.#repository.config.current()).author;
  }

  /** Whether git ignores this path for certain not, which costs less than asking git. */
  isSurelyKept(path: string): boolean {
    const {top, dirs, prefix} = this.#repository;
    if (!this.#config) return false;
    const others = [join(dirs.common, 'info/exclude'), resolve(top, this.#config.excludesFile)];
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
  async flush(ms = Number.POSITIVE_INFINITY): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    let over = false;
    const late = new Promise<void>(resolve => {
      if (ms !== Number.POSITIVE_INFINITY) timer = setTimeout(resolve, Math.max(0, ms));
    }).then(() => {
      over = true;
    });
    while (this.#running && !over) await Promise.race([this.#running, late]);
    clearTimeout(timer);
    return this.#queue.length === 0;
  }

  /** What is not published yet stays in the files, and is rejected here. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#wake();
    await this.#running;
    await this.#maintenance.close();
    for (const {reject} of this.#queue.splice(0)) reject(new Error('the journal is closed'));
    this.#repository.cat.close();
  }

  async #run(): Promise<void> {
    // Whatever is added in the same turn of the loop belongs into the same batch.
    await turn();
    for (let tries = 0; this.#queue.length > 0 && !this.#closed; ) {
      let why: string | undefined;
      let kind: keyof typeof RETRY_MS = 'busy';
      try {
        why = await this.#round();
      } catch (error) {
        why = failureWords(error as NodeJS.ErrnoException);
        kind = 'failed';
      }
      this.#patience.tell(why);
      tries = why === undefined ? 0 : tries + 1;
      if (why === undefined) continue;
      // Whoever was in the way may have pruned as well.
      this.#repository.objects.forget();
      const [least, most] = RETRY_MS[kind];
      await this.#sleep(Math.min(most, least * 2 ** Math.min(tries, 10)), false);
    }
    this.#running = undefined;
    if (this.#queue.length === 0) this.#patience.tell(undefined);
    if (!this.#closed) this.#maintenance.plan();
  }

  /** One batch; or why it must wait. */
  async #round(): Promise<string | undefined> {
    const {dirs, processes} = this.#repository;
    const why = busy(dirs, processes);
    if (why) return why;
    await this.#committed.look();
    const batch = await this.#begin();
    try {
      const count = await this.#fill(batch);
      const outcome = await this.#committed.exclusively(async () => {
        const result = await batch.publish();
        if ('done' in result) this.#adopt(result.done);
        return result;
      });
      if ('moved' in outcome) await this.#sleep(5, false);
      return this.#settle(outcome, count);
    } finally {
      batch.discard();
    }
  }

  async #begin(): Promise<Batch> {
    const {config, format, dirs} = this.#repository;
    const known = await config.current();
    this.#config = known;
    const {head} = this.#committed;
    const usual = format === 'sha1' && known.refStorage === 'files';
    if (usual && !('unsupported' in this.#state.index.read()) && !('unsupported' in readHead(dirs)))
      return FastBatch.begin(this.#state, known, head);
    return PlainBatch.begin(this.#repository, this.#state.place, known, head);
  }

  /** Prepare what is queued until it is time to publish; how many are in. */
  async #fill(batch: Batch): Promise<number> {
    const {minGapMs, maxBatch} = this.#options;
    let count = 0;
    const begun = performance.now();
    let due = Math.max(begun, this.#even - AHEAD * minGapMs);
    for (let pause = begun + SLICE_MS; count < maxBatch && batch.held < MAX_HELD && !this.#closed; ) {
      const next = this.#queue[count];
      const now = performance.now();
      if (!next) {
        const wait = Math.max(due, this.expecting() ? begun + EXPECTING_MS : due) - now;
        if (wait <= 0) break;
        await this.#sleep(Math.min(wait, EXPECTING_MS / 10), true);
        continue;
      }
      if (now >= due && count > 0 && due > begun) break;
      await batch.prepare(this.#stillWanted(next.pending));
      count++;
      // Git tells a file changed twice in one tick of the clock by its content only: let the tick pass.
      if (isFresh(next.pending)) due = Math.max(due, begun + STAMP_MS + 2);
      if (performance.now() < pause) continue;
      await turn();
      pause = performance.now() + SLICE_MS;
    }
    return count;
  }

  #stillWanted(pending: Pending): Pending {
    const {prefix} = this.#repository;
    const changes = pending.changes.filter(
      ({path, since}) => !this.#committed.isOvertaken(path.slice(prefix.length), since),
    );
    return changes.length === pending.changes.length ? pending : {...pending, changes};
  }

  #adopt(done: Extract<Outcome, {done: unknown}>['done']): void {
    for (const [i, published] of done.entries()) {
      const {changes, trailers} = this.#queue[i]?.entry ?? {changes: [], trailers: []};
      this.#committed.adopt(published, trailers.find(([key]) => key === 'Cause')?.[1]);
      for (const {path, content} of changes) this.#committed.setMode(path, content?.mode);
    }
  }

  #settle(outcome: Outcome, count: number): string | undefined {
    if ('wait' in outcome) return outcome.wait;
    if ('moved' in outcome) return undefined;
    this.#patience.tell(undefined);
    if (outcome.done.some(({already}) => !already)) {
      this.#even = Math.max(this.#even, performance.now()) + this.#options.minGapMs;
      this.#maintenance.published();
    }
    for (const [i, {entry, resolve}] of this.#queue.splice(0, count).entries()) {
      const {commit = '', already} = outcome.done[i] ?? {};
      const paths = entry.changes.map(({path}) => path);
      resolve({commit, subject: entry.subject, paths, ...(already ? {already} : {})});
    }
    return undefined;
  }

  /** `early`: whatever is added meanwhile ends it. Closing always does. */
  #sleep(ms: number, early: boolean): Promise<void> {
    return new Promise(resolve => {
      if (this.#closed) return resolve();
      const timer = setTimeout(done, ms);
      this.#wake = () => (early || this.#closed ? done() : undefined);
      function done() {
        clearTimeout(timer);
        resolve();
      }
    });
  }
}

function isFresh({changes}: Pending): boolean {
  return changes.some(({stat, since}) => stat !== undefined && Number(stat.ctimeMs) >= since - STAMP_MS);
}
