import {setImmediate as turn} from 'node:timers/promises';
import type {CommittedFiles} from './committed.ts';
import type {CommittedEntry, JournalEntry, JournalOptions} from './entry.ts';
import type {BatchOutcome, CommitBatch, PendingEntry} from './git/git-batch.ts';
import {busyReason} from './git/git-busy.ts';
import {STAMP_MS} from './git/git-clean.ts';
import type {GitConfig} from './git/git-config.ts';
import {FastBatch, type FastState} from './git/git-fast-batch.ts';
import {IndexFile} from './git/git-index-file.ts';
import {workplace} from './git/git-locks.ts';
import {PlainBatch} from './git/git-plain-batch.ts';
import {readHead} from './git/git-refs.ts';
import type {Repository} from './git/git-repository.ts';
import {isStillTip} from './git/git-still-tip.ts';
import {Maintenance} from './maintenance.ts';
import {failureWords, WaitNotice} from './wait-notice.ts';

interface Queued {
  entry: JournalEntry;
  pending: PendingEntry;
  resolve: (done: CommittedEntry & {already?: true}) => void;
  reject: (error: Error) => void;
}

const defaults = {minGapMs: 200, maxBatch: 1_000, idleMs: 20_000, maxLoose: 6_700, tellMs: 1_000};
/** So long others wait; longer only if their turns are long and much waits: a quarter of theirs with so many, and no more than this. */
const SLICE_MS = 8;
const MOST_SLICE_MS = 100;
const BEHIND = 1_000;
/** So many publishes may come early after a quiet moment: what is dirty for long is in the person's way, too. */
const AHEAD = 2;
/** Under constant load, publishing takes one part in so many of the time at most. */
const SHARE = 20;
const MOST_GAP_MS = 1_000;
const MAX_HELD = 16 * 1024 * 1024;
/** So long more is waited for if it is likely to come: publishing takes its time, and many cost as much as one. */
const EXPECTING_MS = 60;
/** First and longest pause before the next try. */
const RETRY_MS = {busy: [10, 100], failed: [50, 2_000]} as const;

/** Publishes what is queued, in order, many together, whenever nobody is in the way. */
export class Publisher {
  readonly patience: WaitNotice;
  readonly #repository: Repository;
  readonly #state: FastState;
  readonly #options: Required<JournalOptions>;
  readonly #committed: CommittedFiles;
  readonly #maintenance: Maintenance;
  readonly #queue: Queued[] = [];
  #config: GitConfig | undefined;
  #closed = false;
  #running: Promise<void> | undefined;
  #wake = () => {};
  /** When the next publish would come if they came evenly, one in `#gapMs`. */
  #even = Number.NEGATIVE_INFINITY;
  /** Time from one publish to the next, if many follow each other. */
  #gapMs: number;

  constructor(repository: Repository, committed: CommittedFiles, options: JournalOptions) {
    this.#repository = repository;
    this.#committed = committed;
    this.#options = {...defaults, ...options};
    this.#gapMs = this.#options.minGapMs;
    this.patience = new WaitNotice(this.#options.tellMs);
    this.#maintenance = new Maintenance(repository, this.#options);
    const {dirs, top} = repository;
    const index = new IndexFile(dirs.own, top);
    this.#state = {repository, index, place: workplace(dirs), root: undefined, commit: undefined};
  }

  /** Whether more is likely to be added within a moment. */
  expecting: () => boolean = () => false;

  /** Known once there was something to commit. */
  get config(): GitConfig | undefined {
    return this.#config;
  }

  /** How many wait. */
  get count(): number {
    return this.#queue.length;
  }

  /** It resolves when it is published, or was in HEAD already; only `close` rejects. */
  add(entry: JournalEntry, pending: PendingEntry): Promise<CommittedEntry & {already?: true}> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error('the journal is closed'));
      this.#queue.push({entry, pending, resolve, reject});
      this.#maintenance.postpone();
      this.#wake();
      this.#running ??= this.#run();
    });
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

  /** What is not published yet is rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#wake();
    await this.#running;
    await this.#maintenance.close();
    for (const {reject} of this.#queue.splice(0)) reject(new Error('the journal is closed'));
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
      this.patience.update(why);
      tries = why === undefined ? 0 : tries + 1;
      if (why === undefined) continue;
      // Whoever was in the way may have pruned as well.
      this.#repository.objects.forget();
      const [least, most] = RETRY_MS[kind];
      await this.#sleep(Math.min(most, least * 2 ** Math.min(tries, 10)), false);
    }
    this.#running = undefined;
    if (this.#queue.length === 0) this.patience.update(undefined);
    if (!this.#closed) this.#maintenance.plan();
  }

  /** One batch; or why it must wait. */
  async #round(): Promise<string | undefined> {
    const {dirs, processes} = this.#repository;
    const why = busyReason(dirs, processes);
    if (why) return why;
    await this.#committed.look();
    const batch = await this.#begin();
    try {
      const count = await this.#fill(batch);
      const outcome = await this.#committed.exclusively(async (): Promise<BatchOutcome> => {
        const begun = performance.now();
        const result = await batch.publish();
        this.#gapMs = Math.max(this.#options.minGapMs, Math.min(MOST_GAP_MS, (performance.now() - begun) * SHARE));
        if (!('done' in result)) return result;
        const tip = result.done.findLast(({already}) => !already)?.commit;
        if (tip !== undefined && !(await isStillTip(this.#repository, tip))) return {moved: true};
        this.#adopt(result.done);
        return result;
      });
      if ('moved' in outcome) await this.#sleep(5, false);
      return this.#settle(outcome, count);
    } finally {
      batch.discard();
    }
  }

  async #begin(): Promise<CommitBatch> {
    const {config, format, dirs} = this.#repository;
    const known = await config.current();
    this.#config = known;
    const {head} = this.#committed;
    const usual = format === 'sha1' && known.refStorage === 'files';
    if (usual && !('unsupported' in this.#state.index.read()) && !('unsupported' in readHead(dirs)))
      return FastBatch.begin(this.#state, known, head);
    return PlainBatch.begin(this.#repository, this.#state.place, known, head);
  }

  /** Prepare all that waits, and what comes until it is time to publish; how many are in. */
  async #fill(batch: CommitBatch): Promise<number> {
    const {maxBatch} = this.#options;
    let count = 0;
    const waiting = this.#queue.length;
    const begun = performance.now();
    let due = Math.max(begun, this.#even - AHEAD * this.#gapMs);
    for (let pause = begun + SLICE_MS; count < maxBatch && batch.held < MAX_HELD && !this.#closed; ) {
      const next = this.#queue[count];
      const now = performance.now();
      if (!next) {
        const wait = Math.max(due, this.expecting() ? begun + EXPECTING_MS : due) - now;
        if (wait <= 0) break;
        await this.#sleep(Math.min(wait, EXPECTING_MS / 10), true);
        continue;
      }
      // Beside much other work few are prepared in that time: ended then, batches are smaller than what comes meanwhile.
      if (now >= due && count >= waiting && due > begun) break;
      await batch.prepare(this.#stillWanted(next.pending));
      count++;
      // Git tells a file changed twice in one tick of the clock by its content only: let the tick pass.
      if (isFresh(next.pending)) due = Math.max(due, begun + STAMP_MS + 2);
      if (performance.now() < pause) continue;
      pause = await this.#stepAside();
    }
    return count;
  }

  /** Let others have their turn; until when to go on after that. With 200 sessions at work a turn takes a second on a busy machine. */
  async #stepAside(): Promise<number> {
    const left = performance.now();
    await turn();
    const back = performance.now();
    const share = Math.min(1, this.#queue.length / BEHIND) / 4;
    return back + Math.min(MOST_SLICE_MS, Math.max(SLICE_MS, (back - left) * share));
  }

  #stillWanted(pending: PendingEntry): PendingEntry {
    const {prefix} = this.#repository;
    const changes = pending.changes.filter(
      ({path, since}) => !this.#committed.isOvertaken(path.slice(prefix.length), since),
    );
    return changes.length === pending.changes.length ? pending : {...pending, changes};
  }

  #adopt(done: Extract<BatchOutcome, {done: unknown}>['done']): void {
    for (const [i, published] of done.entries()) {
      const {changes, trailers, author} = this.#queue[i]?.entry ?? {changes: [], trailers: [], author: undefined};
      this.#committed.adopt(published, trailers.find(([key]) => key === 'Cause')?.[1], author === 'human');
      for (const {path, content} of changes) this.#committed.setMode(path, content?.mode);
    }
  }

  #settle(outcome: BatchOutcome, count: number): string | undefined {
    if ('wait' in outcome) return outcome.wait;
    if ('moved' in outcome) return undefined;
    this.patience.update(undefined);
    if (outcome.done.some(({already}) => !already)) {
      this.#even = Math.max(this.#even, performance.now()) + this.#gapMs;
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

function isFresh({changes}: PendingEntry): boolean {
  return changes.some(({stat, since}) => stat !== undefined && Number(stat.ctimeMs) >= since - STAMP_MS);
}
