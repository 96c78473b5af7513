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
import {groupToJoin, joined} from './joined-entry.ts';
import {Maintenance} from './maintenance.ts';
import {failureWords, WaitNotice} from './wait-notice.ts';

interface Queued {
  entry: JournalEntry;
  pending: PendingEntry;
  resolve: (done: CommittedEntry & {already?: true}) => void;
  reject: (error: Error) => void;
}

const defaults = {minGapMs: 200, maxBatch: 1_000, idleMs: 20_000, maxLoose: 6_700, tellMs: 1_000};
/** How long preparing may block the event loop: up to `MOST_SLICE_MS` if turns are long and `BEHIND` entries wait. */
const SLICE_MS = 8;
const MOST_SLICE_MS = 100;
const BEHIND = 1_000;
/** How many publishes may come early after a quiet moment: files that stay dirty hinder the person, too. */
const AHEAD = 2;
/** Under constant load, publishing takes at most 1/SHARE of the time. */
const SHARE = 10;
const MOST_GAP_MS = 500;
const MAX_HELD = 16 * 1024 * 1024;
/** How many commits of a batch wait for entries that join them. */
const OPEN = 4;
/** How long to wait for entries that `expecting` announces: publishing many costs as much as publishing one. */
const EXPECTING_MS = 300;
/** First and longest pause before a retry. */
const RETRY_MS = {busy: [10, 100], failed: [50, 2_000]} as const;

/** Commits queued entries in order, in batches, while no git command of the person's runs. */
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
  /** When the next publish is due at an even rate of one per `#gapMs`. */
  #even = Number.NEGATIVE_INFINITY;
  /** Time between publishes under load. */
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

  /** Undefined before the first batch. */
  get config(): GitConfig | undefined {
    return this.#config;
  }

  /** How many entries wait. */
  get count(): number {
    return this.#queue.length;
  }

  /** Resolves when the entry is published, or HEAD already has it. Only `close` rejects. */
  add(entry: JournalEntry, pending: PendingEntry): Promise<CommittedEntry & {already?: true}> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error('the journal is closed'));
      this.#queue.push({entry, pending, resolve, reject});
      this.#maintenance.postpone();
      this.#wake();
      this.#running ??= this.#run();
    });
  }

  /** Wait at most `ms`. Returns whether all entries are published. */
  async flush(ms = Number.POSITIVE_INFINITY): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    let isTimeUp = false;
    const timeUp = new Promise<void>(resolve => {
      if (ms !== Number.POSITIVE_INFINITY) timer = setTimeout(resolve, Math.max(0, ms));
    }).then(() => {
      isTimeUp = true;
    });
    while (this.#running && !isTimeUp) await Promise.race([this.#running, timeUp]);
    clearTimeout(timer);
    return this.#queue.length === 0;
  }

  /** Rejects the entries that are not published yet. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#wake();
    await this.#running;
    await this.#maintenance.close();
    for (const {reject} of this.#queue.splice(0)) reject(new Error('the journal is closed'));
  }

  async #run(): Promise<void> {
    // Entries added in the same turn of the event loop belong in the same batch.
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
      // The other git command may have pruned objects.
      this.#repository.objects.forget();
      const [least, most] = RETRY_MS[kind];
      await this.#sleep(Math.min(most, least * 2 ** Math.min(tries, 10)), false);
    }
    this.#running = undefined;
    if (this.#queue.length === 0) this.patience.update(undefined);
    if (!this.#closed) this.#maintenance.plan();
  }

  /** Publish one batch. Returns why it must wait. */
  async #round(): Promise<string | undefined> {
    const {dirs, processes} = this.#repository;
    const why = busyReason(dirs, processes);
    if (why) return why;
    await this.#committed.look();
    const batch = await this.#begin();
    try {
      const groups = await this.#fill(batch);
      const outcome = await this.#committed.exclusively(async (): Promise<BatchOutcome> => {
        const begun = performance.now();
        const result = await batch.publish();
        this.#gapMs = Math.max(this.#options.minGapMs, Math.min(MOST_GAP_MS, (performance.now() - begun) * SHARE));
        if (!('done' in result)) return result;
        const tip = result.done.findLast(({already}) => !already)?.commit;
        if (tip !== undefined && !(await isStillTip(this.#repository, tip))) return {moved: true};
        this.#adopt(result.done, groups);
        return result;
      });
      if ('moved' in outcome) await this.#sleep(5, false);
      return this.#settle(outcome, groups);
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

  /**
   * Prepare the waiting entries and those that arrive until publishing is due. Returns them in groups, one per commit: the first entries
   * of the queue.
   */
  async #fill(batch: CommitBatch): Promise<Queued[][]> {
    const {maxBatch} = this.#options;
    let count = 0;
    const groups: Queued[][] = [];
    let prepared = 0;
    const prepare = async (open: number) => {
      while (groups.length - prepared > open) await batch.prepare(this.#commitOf(groups[prepared++] ?? []));
    };
    const waiting = this.#queue.length;
    const begun = performance.now();
    let due = Math.max(begun, this.#even - AHEAD * this.#gapMs);
    for (let pause = begun + SLICE_MS; count < maxBatch && batch.held < MAX_HELD && !this.#closed; ) {
      const next = this.#queue[count];
      const now = performance.now();
      if (!next) {
        const wait = Math.max(due, this.expecting() ? begun + EXPECTING_MS : due) - now;
        if (wait <= 0) break;
        await this.#sleep(Math.min(wait, 10), true);
        continue;
      }
      const group = groupToJoin(groups.slice(prepared), next);
      // Prepare at least all entries that waited at the start: under load, smaller batches would never catch up.
      if (!group && now >= due && count >= waiting && due > begun) break;
      if (group) group.push(next);
      else groups.push([next]);
      await prepare(OPEN);
      count++;
      // Git must compare content to detect two changes within one clock tick: let the tick pass.
      if (isFresh(next.pending)) due = Math.max(due, begun + STAMP_MS + 2);
      if (performance.now() < pause) continue;
      pause = await this.#stepAside();
    }
    await prepare(0);
    return groups;
  }

  /** Yield to the event loop. Returns when to yield next. With 200 working sessions, a turn may take a second. */
  async #stepAside(): Promise<number> {
    const before = performance.now();
    await turn();
    const after = performance.now();
    const share = Math.min(1, this.#queue.length / BEHIND) / 4;
    return after + Math.min(MOST_SLICE_MS, Math.max(SLICE_MS, (after - before) * share));
  }

  #commitOf(group: readonly Queued[]): PendingEntry {
    const [first, ...rest] = group.map(({pending}) => this.#stillWanted(pending));
    if (!first) throw new Error('an empty commit');
    return joined([first, ...rest]);
  }

  /** Drop changes that would revert what somebody else has committed since. */
  #stillWanted(pending: PendingEntry): PendingEntry {
    const {prefix} = this.#repository;
    const changes = pending.changes.filter(
      ({path, since}) => !this.#committed.isOvertaken(path.slice(prefix.length), since),
    );
    return changes.length === pending.changes.length ? pending : {...pending, changes};
  }

  #adopt(done: Extract<BatchOutcome, {done: unknown}>['done'], groups: readonly Queued[][]): void {
    for (const [i, published] of done.entries()) {
      const entries = groups[i]?.map(({entry}) => entry) ?? [];
      const cause = entries[0]?.trailers.find(([key]) => key === 'Cause')?.[1];
      this.#committed.adopt(published, cause, entries[0]?.author === 'human');
      for (const {path, content} of entries.flatMap(({changes}) => changes))
        this.#committed.setMode(path, content?.mode);
    }
  }

  #settle(outcome: BatchOutcome, groups: readonly Queued[][]): string | undefined {
    if ('wait' in outcome) return outcome.wait;
    if ('moved' in outcome) return undefined;
    this.patience.update(undefined);
    if (outcome.done.some(({already}) => !already)) {
      this.#even = Math.max(this.#even, performance.now()) + this.#gapMs;
      this.#maintenance.published();
    }
    const at = new Map(groups.flatMap((group, i) => group.map(queued => [queued, i] as const)));
    for (const queued of this.#queue.splice(0, at.size)) {
      const {entry, resolve} = queued;
      const {commit = '', already} = outcome.done[at.get(queued) ?? -1] ?? {};
      const paths = entry.changes.map(({path}) => path);
      resolve({commit, subject: entry.subject, paths, ...(already ? {already} : {})});
    }
    return undefined;
  }

  /** `early`: a new entry ends the pause. Closing always does. */
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

/** Whether a file was changed within the clock tick in which it was recorded. */
function isFresh({changes}: PendingEntry): boolean {
  return changes.some(({stat, since}) => stat !== undefined && Number(stat.ctimeMs) >= since - STAMP_MS);
}
