import type {FileStat} from './disk/disk.ts';
import type {CommittedEntry, Journal, JournalEntry} from './journal.ts';
import type {LoggedVersion, NewVersion, UnpublishedVersion, VersionLog} from './versions/version-log.ts';

/** What the log needs of git. */
export type PublishingJournal = Pick<Journal, 'add' | 'committed'>;

/** Versions that are durable in the log, and that no file holds yet. */
export interface DurableVersions {
  /** The file holds the last of them now. `stat`: of that file. */
  placed(stat: FileStat): void;
  /** The file had changed meanwhile, or could not be written: none of them happened. */
  cancel(): void;
}

/** Every version of every file: recorded in the log, then published to git in the same order. */
export class Versions {
  readonly log: VersionLog;
  readonly #journal: PublishingJournal;
  readonly #onCommitted: (committed: CommittedEntry) => void;
  /** Published, and not marked so in the log yet; the commit of the last one. */
  #published: UnpublishedVersion[] = [];
  #commit = '';
  /** Versions that are recorded, and that no file holds yet. In order. */
  readonly #preparing = new Set<number>();
  /** Until publishing starts: stats of files whose versions wait. */
  #held: Map<number, FileStat> | undefined = new Map();

  constructor(log: VersionLog, journal: PublishingJournal, onCommitted: (committed: CommittedEntry) => void) {
    this.log = log;
    this.#journal = journal;
    this.#onCommitted = onCommitted;
  }

  /** Git's name for what git has, or will have, at this path; undefined: no file. */
  blobAt(path: string): string | undefined {
    const last = this.log.lastUnpublished(path);
    return last ? (last.blob ?? undefined) : this.#journal.committed.get(path);
  }

  /** The last version that a checkpoint may cover: none after it is still being written. */
  get settled(): number {
    const [oldest] = this.#preparing;
    return oldest === undefined ? this.log.seq : oldest - 1;
  }

  /** Whether git lacks a version of this path. */
  isUnpublished(path: string): boolean {
    return this.log.lastUnpublished(path) !== undefined;
  }

  /** Record what a file holds already: a person saved it. `stat`: of that file, if it still is the one. */
  record(version: NewVersion, stat?: FileStat): void {
    const recorded = this.log.append(version);
    this.log.placed([recorded]);
    this.#publish(recorded, stat);
  }

  /** Record versions before the file holds the last of them. Resolves when they are durable. */
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
   * From now on git gets versions, beginning with those that earlier runs recorded. Until then HEAD and the index are as the
   * person left them.
   */
  startPublishing(): void {
    const stats = this.#held;
    this.#held = undefined;
    for (const version of [...this.log.unpublished]) this.#publish(version, stats?.get(version.seq));
  }

  /** Versions of a path, newest first, as far back as the log goes. */
  history(path: string): Iterable<LoggedVersion> {
    return this.log.history(path);
  }

  /** The content of a version of this path that the log has. */
  read(path: string, blob: string): Buffer | undefined {
    for (const version of this.log.history(path)) if (version.blob === blob) return version.bytes();
    return undefined;
  }

  #publish(version: UnpublishedVersion, stat: FileStat | undefined): void {
    if (version.local) return;
    if (this.#held) {
      if (stat) this.#held.set(version.seq, stat);
      return;
    }
    this.#journal.add(entryOf(version, stat)).then(
      ({already, ...committed}) => {
        if (!already) this.#onCommitted(committed);
        if (committed.commit !== '') this.#commit = committed.commit;
        // Many are published at a time, and share one mark.
        if (this.#published.push(version) === 1) queueMicrotask(() => this.#markPublished());
      },
      // The journal was closed first: the next start finds the version in the log.
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
  const {path, mode, movedFrom, author, subject, trailers, time} = version;
  const bytes = version.bytes();
  const gone = movedFrom === undefined ? [] : [{path: movedFrom, content: undefined, stat: undefined}];
  return {
    changes: [{path, content: bytes && {bytes, mode}, stat}, ...gone],
    author,
    subject,
    trailers,
    time,
  };
}
