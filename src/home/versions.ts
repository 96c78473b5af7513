import type {FileStat} from './disk/disk.ts';
import type {CommittedEntry, Journal, JournalEntry} from './journal.ts';
import type {LoggedVersion, NewVersion, UnpublishedVersion, VersionLog} from './versions/version-log.ts';

export type PublishingJournal = Pick<Journal, 'add' | 'committed'>;

/** Versions that are durable in the log but not yet in the file. */
export interface DurableVersions {
  /** The file now holds the last version. `stat`: the file's stat. */
  placed(stat: FileStat): void;
  /** The file had changed or could not be written: none of the versions happened. */
  cancel(): void;
}

/** Records every version of every file in the log, then publishes it to git in the same order. */
export class Versions {
  readonly log: VersionLog;
  readonly #journal: PublishingJournal;
  readonly #onCommitted: (committed: CommittedEntry) => void;
  /** Published versions that the log does not mark as published yet, and the commit of the last one. */
  #published: UnpublishedVersion[] = [];
  #commit = '';
  /** Numbers of recorded versions that no file holds yet, ascending. */
  readonly #preparing = new Set<number>();
  /** File stats of versions that wait for `startPublishing`. Undefined after it. */
  #waitingStats: Map<number, FileStat> | undefined = new Map();

  constructor(log: VersionLog, journal: PublishingJournal, onCommitted: (committed: CommittedEntry) => void) {
    this.log = log;
    this.#journal = journal;
    this.#onCommitted = onCommitted;
  }

  /** The blob id that git has, or will have, at this path. Undefined: no file. */
  blobAt(path: string): string | undefined {
    const last = this.log.lastUnpublished(path);
    return last ? (last.blob ?? undefined) : this.#journal.committed.get(path);
  }

  /** The last version that a checkpoint may cover: this and all before it are in their files. */
  get settled(): number {
    const [oldest] = this.#preparing;
    return oldest === undefined ? this.log.seq : oldest - 1;
  }

  /** Whether git lacks a version of this path. */
  isUnpublished(path: string): boolean {
    return this.log.lastUnpublished(path) !== undefined;
  }

  /** Record a version that its file already holds, such as a person's save. `stat`: the file's stat, if it still holds the version. */
  record(version: NewVersion, stat?: FileStat): void {
    const recorded = this.log.append(version);
    this.log.placed([recorded]);
    this.#publish(recorded, stat);
  }

  /** Record versions before the last of them is written to the file. Resolves when they are durable. */
  async prepare(versions: readonly NewVersion[]): Promise<DurableVersions> {
    const prepared: UnpublishedVersion[] = [];
    const settled = () => {
      for (const {seq} of prepared) this.#preparing.delete(seq);
    };
    const cancel = () => {
      for (const version of prepared.reverse()) this.log.cancelled(version);
      settled();
    };
    try {
      for (const version of versions) {
        const appended = this.log.append(version);
        this.#preparing.add(appended.seq);
        prepared.push(appended);
      }
      await this.log.durable();
    } catch (error) {
      cancel();
      throw error;
    }
    const placed = (stat: FileStat) => {
      const last = prepared.at(-1);
      this.log.placed(prepared);
      for (const version of prepared) this.#publish(version, version === last ? stat : undefined);
      settled();
    };
    return {placed, cancel};
  }

  /**
   * Start to publish to git, first the versions that earlier runs recorded. Until then HEAD and the index stay as the person left them.
   */
  startPublishing(): void {
    const stats = this.#waitingStats;
    this.#waitingStats = undefined;
    for (const version of [...this.log.unpublished]) this.#publish(version, stats?.get(version.seq));
  }

  /** The logged versions of a path, newest first. */
  history(path: string): Iterable<LoggedVersion> {
    return this.log.history(path);
  }

  /** The content of a logged version. */
  read(path: string, blob: string): Buffer | undefined {
    for (const version of this.log.history(path)) if (version.blob === blob) return version.bytes();
    return undefined;
  }

  #publish(version: UnpublishedVersion, stat: FileStat | undefined): void {
    if (version.local) return;
    if (this.#waitingStats) {
      if (stat) this.#waitingStats.set(version.seq, stat);
      return;
    }
    this.#journal.add(entryOf(version, stat)).then(
      ({already, ...committed}) => {
        if (!already) this.#onCommitted(committed);
        if (committed.commit !== '') this.#commit = committed.commit;
        // Versions published together share one mark.
        if (this.#published.push(version) === 1) queueMicrotask(() => this.#markPublished());
      },
      // The journal was closed: the next start finds the version in the log.
      () => {},
    );
  }

  #markPublished(): void {
    const versions = this.#published;
    this.#published = [];
    this.log.publish(versions, this.#commit);
  }
}

function entryOf(version: UnpublishedVersion, stat: FileStat | undefined): JournalEntry {
  const {path, mode, movedFrom, author, subject, trailers, time, joins} = version;
  const bytes = version.bytes();
  const gone = movedFrom === undefined ? [] : [{path: movedFrom, content: undefined, stat: undefined}];
  return {
    changes: [{path, content: bytes && {bytes, mode}, stat}, ...gone],
    author,
    subject,
    trailers,
    time,
    ...(joins && {joins}),
  };
}
