import {blobId} from '../git/blob-id.ts';
import {type ChangedRange, changedRanges} from '../git/changed-ranges.ts';
import {
  applyChange,
  type ContentChange,
  decodeRecord,
  encodeRecord,
  type LogRecord,
  type SegmentHead,
  type VersionHead,
  type VersionMark,
} from './record.ts';

/** Storage of segments: `.agentdir/versions/` of a home, or a simulated disk. */
export interface LogStorage {
  /** Create the folder, so that a later start knows of the log. Must not throw: the first append reports a full disk. */
  prepare(): void;
  /** Names of segments. */
  list(): string[];
  /** The whole segment, or its first `length` bytes. */
  read(name: string, length?: number): Buffer;
  create(name: string): LogFile;
  remove(name: string): void;
}

export interface LogFile {
  /** Write all bytes or throw. Bytes of a failed write are overwritten by the next one. */
  write(bytes: Buffer, at: number): void;
  /** Rejects with `NotDurable` if the disk lost written data. */
  sync(): Promise<void>;
  truncate(length: number): void;
  close(): void;
}

/** A version to record. The log assigns its number and time. */
export interface NewVersion extends Omit<VersionHead, 'seq' | 'time' | 'blob'> {
  /** Undefined: the file is removed. */
  bytes: Buffer | undefined;
  /** The blob id of the bytes. Computed if left out. */
  blob?: string | undefined;
}

/** A recorded version. Reads its content on demand. */
export interface LoggedVersion extends VersionHead {
  bytes(): Buffer | undefined;
}

/** A version that git does not have yet. */
export interface UnpublishedVersion extends LoggedVersion {
  /** Whether the file has held this version. */
  placed: boolean;
}

export interface VersionLogOptions {
  now: () => number;
  /** The boot id of the machine; see `SegmentHead`. */
  boot: string;
  /** The number of the last version that the checkpoint covers. */
  checkpoint: number;
}

interface Segment {
  name: string;
  /** The first record. Undefined: not read yet; null: torn. */
  head: SegmentHead | null | undefined;
  /** Offsets of records by path. Undefined: not read yet. */
  offsets: Map<string, number[]> | undefined;
}

/** The last version of a path in the current segment: the base of the next splice. */
interface Previous {
  bytes: Buffer;
  splices: number;
}

const LARGEST_SEGMENT = 8 * 1024 * 1024;
/** Zeros written ahead, because a sync that does not change the file's length need not write metadata. */
const AHEAD = 256 * 1024;
const ZEROS = Buffer.alloc(AHEAD);
/** After so many splices in a row, store a version whole: reading one applies all its splices. */
const MOST_SPLICES = 32;
/** Total bytes of previous versions kept in memory. */
const MOST_PREVIOUS = 16 * 1024 * 1024;
/** Keep segments for an hour: an editor may still have an older version open. */
export const KEPT_MS = 3_600_000;
/** A power cut may lose writes of this long before it. No system keeps them in memory for longer. */
const UNSYNCED_MS = 120_000;
/** Enough bytes for the first record of a segment. */
const LONGEST_HEAD = 4_096;
/** The author of people's saves. They need no `placed` mark: the file always held them. */
const PERSON = 'human';
const NAME = /^\d{6,}\.log$/;

/**
 * The version log: an append-only record of every version of every file of the home. A version is recorded before it becomes visible or
 * is acted on. Git commits are made from the log, and a start after a crash reads it.
 */
export class VersionLog {
  readonly #storage: LogStorage;
  readonly #options: VersionLogOptions;
  /** Oldest first. The last is the current one. */
  readonly #segments: Segment[] = [];
  readonly #unpublished = new Map<number, UnpublishedVersion>();
  /** The last unpublished version by path. */
  readonly #last = new Map<string, UnpublishedVersion>();
  readonly #previous = new Map<string, Previous>();
  #previousLength = 0;
  #file: LogFile | undefined;
  /** The end of the last record in the current segment. */
  #end = 0;
  /** The length of the current segment with the zeros written ahead. */
  #allocated = 0;
  #seq = 0;
  #published = 0;
  #commit = '';
  #synced: {file: LogFile; end: number} | undefined;
  #syncing: Promise<void> | undefined;
  /** The sync that starts when `#syncing` ends. */
  #next: Promise<void> | undefined;
  /** The disk lost data of a full segment. */
  #failed: Error | undefined;
  /**
   * Set by `open`: the last version of each path since the checkpoint. After a power cut, also versions whose files may not have
   * reached the disk.
   */
  readonly recovered = new Map<string, UnpublishedVersion>();
  /** Set by `open`: calls and approvals started since the checkpoint, and perhaps before. */
  readonly started: string[] = [];
  /** Set by `open`: versions that files have held, and the number of the first version that was read. */
  readonly #placed = new Set<number>();
  #firstRead = 0;
  /** Set by `open`: the machine has rebooted, so files may have lost unsynced data. */
  rebooted = false;

  private constructor(storage: LogStorage, options: VersionLogOptions) {
    this.#storage = storage;
    this.#options = options;
  }

  /** Read the records of earlier runs that git or the checkpoint lacks. */
  static open(storage: LogStorage, options: VersionLogOptions): VersionLog {
    const log = new VersionLog(storage, options);
    storage.prepare();
    log.#recover();
    return log;
  }

  /** The number of the last version. */
  get seq(): number {
    return this.#seq;
  }

  /** The last version up to which git has all, and its commit. */
  get published(): {seq: number; commit: string} {
    return {seq: this.#published, commit: this.#commit};
  }

  /** Oldest first. */
  get unpublished(): Iterable<UnpublishedVersion> {
    return this.#unpublished.values();
  }

  lastUnpublished(path: string): UnpublishedVersion | undefined {
    return this.#last.get(path);
  }

  /** Record a version. A later call of `durable()` makes it durable. Throws if the disk fails. */
  append({bytes, blob, ...rest}: NewVersion): UnpublishedVersion {
    const {path} = rest;
    const head: VersionHead = {
      ...rest,
      seq: this.#seq + 1,
      time: this.#options.now(),
      blob: bytes ? (blob ?? blobId(bytes)) : null,
    };
    const segment = this.#current();
    const before = this.#previous.get(path);
    const ranges = bytes && before && before.splices < MOST_SPLICES ? changedRanges(before.bytes, bytes) : undefined;
    const isShort = bytes && ranges && totalOf(ranges) < bytes.length / 2;
    const change = !bytes ? 'removal' : isShort ? {ranges} : {whole: bytes};
    const at = this.#write({head, change});
    this.#seq = head.seq;
    addTo(segment.offsets, path, at);
    this.#remember(path, bytes, isShort ? (before?.splices ?? 0) + 1 : 0);
    const version: UnpublishedVersion = {...head, bytes: () => bytes, placed: false};
    if (!head.local) this.#await(version);
    return version;
  }

  /** Resolves when everything appended so far is on disk. Callers share syncs. */
  durable(): Promise<void> {
    if (this.#failed) return Promise.reject(this.#failed);
    if (!this.#file || (this.#synced?.file === this.#file && this.#synced.end >= this.#end)) return Promise.resolve();
    if (!this.#syncing) return this.#sync();
    this.#next ??= this.#syncing.then(
      () => this.#sync(),
      () => this.#sync(),
    );
    return this.#next;
  }

  /** The file now holds the last of these versions, and has passed through the others. */
  placed(versions: readonly UnpublishedVersion[]): void {
    for (const version of versions) version.placed = true;
    this.#mark(versions.filter(({author}) => author !== PERSON).map(({seq}) => ({placed: seq})));
  }

  /** Whether the file has held this version of an earlier run. Always true for a person's save. */
  wasPlaced({seq, author}: VersionHead): boolean {
    return author === PERSON || seq < this.#firstRead || this.#placed.has(seq);
  }

  /** The file never held this version, because it had changed meanwhile or could not be written. */
  cancelled(version: UnpublishedVersion): void {
    this.#forget(version, true);
    this.#remember(version.path, undefined, 0);
    this.#mark([{cancelled: version.seq}]);
  }

  /** Git has these versions, oldest first; `commit` is the commit of the last one. */
  publish(versions: readonly UnpublishedVersion[], commit: string): void {
    for (const version of versions) {
      this.#forget(version);
      this.#published = Math.max(this.#published, version.seq);
    }
    const [oldest] = this.#unpublished.keys();
    if (oldest !== undefined) this.#published = Math.min(this.#published, oldest - 1);
    if (commit !== '') this.#commit = commit;
    this.#mark([{published: this.#published, commit: this.#commit}]);
  }

  /** Versions of a path, newest first, as far back as the log goes. */
  *history(path: string): Generator<LoggedVersion> {
    const cancelled = new Set<number>();
    for (const segment of [...this.#segments].reverse()) {
      const bytes = this.#read(segment);
      if (!bytes) continue;
      const index = this.#index(segment, bytes);
      for (const offset of index.get(CANCELLED) ?? []) {
        const found = decodeRecord(bytes, offset)?.record;
        if (found && 'mark' in found && 'cancelled' in found.mark) cancelled.add(found.mark.cancelled);
      }
      const versions = versionsAt(bytes, index.get(path) ?? []);
      for (const version of versions.reverse()) if (!cancelled.has(version.seq)) yield version;
    }
  }

  /** Remove segments that git has, the checkpoint covers and no open editor can be based on. */
  drop(checkpoint: number): void {
    const old = this.#options.now() - KEPT_MS;
    for (;;) {
      const [oldest, ...later] = this.#segments;
      // A segment that was begun at a power cut may have no head: the one after it tells where the oldest one ends.
      let next: SegmentHead | undefined;
      for (const segment of later) next ??= this.#headOf(segment);
      if (!oldest || !next || next.created > old) return;
      if (next.first - 1 > this.#published || next.first - 1 > checkpoint) return;
      this.#storage.remove(oldest.name);
      this.#segments.shift();
    }
  }

  /** Sync and truncate the current segment. Must not throw: the next start reads what is there. */
  async close(): Promise<void> {
    try {
      await this.durable();
      this.#file?.truncate(this.#end);
    } catch {
      // The disk is full or broken. Callers of `durable` reported it.
    }
    this.#file?.close();
    this.#file = undefined;
  }

  #recover(): void {
    const names = this.#storage.list().filter(name => NAME.test(name));
    const placed = this.#placed;
    const cancelled = new Set<number>();
    const versions: LoggedVersion[] = [];
    let needed = true;
    let unsynced = Number.POSITIVE_INFINITY;
    for (const name of names.sort().reverse()) {
      const segment: Segment = {name, head: undefined, offsets: undefined};
      this.#segments.unshift(segment);
      if (!needed) continue;
      const bytes = this.#read(segment);
      const head = bytes && this.#headOf(segment);
      // A power cut while the segment was created leaves it without a head.
      if (!bytes || !head) continue;
      const found = readSegment(bytes);
      if (head.boot !== this.#options.boot && unsynced === Number.POSITIVE_INFINITY)
        unsynced = (found.versions.at(-1)?.time ?? head.created) - UNSYNCED_MS;
      segment.offsets = found.offsets;
      for (const mark of found.marks) {
        if ('placed' in mark) placed.add(mark.placed);
        else if ('cancelled' in mark) cancelled.add(mark.cancelled);
        else if (mark.published >= this.#published) [this.#published, this.#commit] = [mark.published, mark.commit];
      }
      versions.unshift(...found.versions);
      this.#firstRead = head.first;
      this.#seq = Math.max(this.#seq, head.first - 1, found.versions.at(-1)?.seq ?? 0);
      needed = Math.min(this.#published, this.#options.checkpoint) + 1 < head.first || head.created > unsynced;
    }
    this.#seq = Math.max(this.#seq, this.#options.checkpoint);
    const newest = this.#segments.findLast(({head}) => head);
    this.rebooted = newest !== undefined && newest.head?.boot !== this.#options.boot;
    for (const version of versions) {
      if (cancelled.has(version.seq)) continue;
      const recovered: UnpublishedVersion = {...version, placed: version.author === PERSON || placed.has(version.seq)};
      this.started.push(...(version.started ?? []));
      const isRecovered = version.seq > this.#options.checkpoint || (this.rebooted && version.time > unsynced);
      if (isRecovered && !version.stale) this.recovered.set(version.path, recovered);
      if (version.seq <= this.#published || version.local) continue;
      this.#await(recovered);
    }
  }

  /** Queue a version for publishing. */
  #await(version: UnpublishedVersion): void {
    this.#unpublished.set(version.seq, version);
    this.#last.set(version.path, version);
    const {movedFrom} = version;
    if (movedFrom !== undefined) this.#last.set(movedFrom, {...version, path: movedFrom, blob: null});
  }

  #forget({seq, path, movedFrom}: UnpublishedVersion, isCancelled = false): void {
    this.#unpublished.delete(seq);
    for (const each of movedFrom === undefined ? [path] : [path, movedFrom])
      if (this.#last.get(each)?.seq === seq) this.#last.delete(each);
    // Git still lacks the versions before a cancelled one.
    if (isCancelled)
      for (const other of this.#unpublished.values()) if (other.path === path) this.#last.set(path, other);
  }

  #mark(marks: readonly VersionMark[]): void {
    if (marks.length === 0) return;
    try {
      this.#current();
      const [first] = marks;
      const at = this.#write(...marks.map(mark => ({mark})));
      if (first && 'cancelled' in first) addTo(this.#segments.at(-1)?.offsets, CANCELLED, at);
    } catch {
      // The disk is full. The next start compares the file and git's history instead.
    }
  }

  /** The segment to append to. Starts a new one if there is none or the last is full. */
  #current(): Segment {
    const last = this.#segments.at(-1);
    if (last && this.#file && this.#end < LARGEST_SEGMENT) return last;
    const number = last ? Number.parseInt(last.name, 10) + 1 : 1;
    const name = `${String(number).padStart(6, '0')}.log`;
    const file = this.#storage.create(name);
    const {boot, now} = this.#options;
    const segmentHead: SegmentHead = {format: 1, boot, first: this.#seq + 1, created: now()};
    const head = encodeRecord({segment: segmentHead});
    const mark = encodeRecord({mark: {published: this.#published, commit: this.#commit}});
    try {
      file.write(Buffer.concat([head, mark]), 0);
    } catch (error) {
      file.close();
      this.#storage.remove(name);
      throw error;
    }
    const former = this.#file;
    const [end, synced] = [this.#end, this.#synced];
    // `durable` must wait for the former segment, too.
    if (former) {
      this.#syncing = this.#leave(former, end, synced, this.#syncing);
      this.#syncing.catch((error: Error) => {
        this.#failed = error;
      });
    }
    this.#file = file;
    this.#end = head.length + mark.length;
    this.#allocated = this.#end;
    this.#previous.clear();
    this.#previousLength = 0;
    const segment: Segment = {name, head: segmentHead, offsets: new Map()};
    this.#segments.push(segment);
    return segment;
  }

  /** Sync and close a full segment. */
  async #leave(
    file: LogFile,
    end: number,
    synced: {file: LogFile; end: number} | undefined,
    before?: Promise<void>,
  ): Promise<void> {
    await before?.catch(() => {});
    if (synced?.file !== file || synced.end < end) await file.sync();
    file.truncate(end);
    file.close();
  }

  /** Append records. Returns the offset of the first. */
  #write(...records: LogRecord[]): number {
    const file = this.#file;
    if (!file) throw new Error('the version log is closed');
    const frame = Buffer.concat(records.map(encodeRecord));
    const at = this.#end;
    if (at + frame.length > this.#allocated) this.#allocate(file, at + frame.length);
    file.write(frame, at);
    this.#end = at + frame.length;
    return at;
  }

  #allocate(file: LogFile, end: number): void {
    try {
      file.write(ZEROS, end);
      this.#allocated = end + AHEAD;
    } catch {
      // The disk is nearly full, but may have room for the record itself.
    }
  }

  #sync(): Promise<void> {
    const [file, end] = [this.#file, this.#end];
    this.#next = undefined;
    if (!file) return Promise.resolve();
    const done = file.sync().then(() => {
      this.#synced = {file, end};
    });
    const syncing = done.finally(() => {
      if (this.#syncing === syncing) this.#syncing = undefined;
    });
    this.#syncing = syncing;
    return syncing;
  }

  #remember(path: string, bytes: Buffer | undefined, splices: number): void {
    this.#previousLength -= this.#previous.get(path)?.bytes.length ?? 0;
    this.#previous.delete(path);
    if (!bytes || bytes.length > MOST_PREVIOUS / 4) return;
    this.#previous.set(path, {bytes, splices});
    this.#previousLength += bytes.length;
    for (const [oldest, {bytes: old}] of this.#previous) {
      if (this.#previousLength <= MOST_PREVIOUS) break;
      this.#previous.delete(oldest);
      this.#previousLength -= old.length;
    }
  }

  #read({name}: Segment): Buffer | undefined {
    try {
      return this.#storage.read(name);
    } catch {
      // Somebody emptied .agentdir.
      return undefined;
    }
  }

  #headOf(segment: Segment): SegmentHead | undefined {
    if (segment.head === undefined) {
      let record: LogRecord | undefined;
      try {
        record = decodeRecord(this.#storage.read(segment.name, LONGEST_HEAD), 0)?.record;
      } catch {
        // Somebody emptied .agentdir.
      }
      segment.head = record && 'segment' in record ? record.segment : null;
    }
    return segment.head ?? undefined;
  }

  #index(segment: Segment, bytes: Buffer): ReadonlyMap<string, readonly number[]> {
    segment.offsets ??= readSegment(bytes).offsets;
    return segment.offsets;
  }
}

/** The key in `offsets` for marks of cancelled versions. No path is empty. */
const CANCELLED = '';

function totalOf(ranges: readonly ChangedRange[]): number {
  return ranges.reduce((sum, {inserted}) => sum + inserted.length, 0);
}

function addTo(offsets: Map<string, number[]> | undefined, path: string, at: number): void {
  const known = offsets?.get(path);
  if (known) known.push(at);
  else offsets?.set(path, [at]);
}

interface SegmentContent {
  offsets: Map<string, number[]>;
  /** Oldest first. */
  versions: LoggedVersion[];
  marks: VersionMark[];
}

/** Read the records of a segment up to its end or to a torn record. */
function readSegment(bytes: Buffer): SegmentContent {
  const content: SegmentContent = {offsets: new Map(), versions: [], marks: []};
  for (let at = 0; ; ) {
    const found = decodeRecord(bytes, at);
    if (!found) return content;
    const {record} = found;
    if ('mark' in record) {
      content.marks.push(record.mark);
      if ('cancelled' in record.mark) addTo(content.offsets, CANCELLED, at);
    }
    if ('head' in record) {
      const {path} = record.head;
      addTo(content.offsets, path, at);
      const all = content.offsets.get(path) ?? [];
      const count = all.length;
      content.versions.push({...record.head, bytes: () => contentAt(bytes, all, count)});
    }
    at = found.end;
  }
}

/** The versions of one path at these offsets of a segment, oldest first. */
function versionsAt(bytes: Buffer, offsets: readonly number[]): LoggedVersion[] {
  return offsets.flatMap((offset, i) => {
    const record = decodeRecord(bytes, offset)?.record;
    if (!record || !('head' in record)) return [];
    return [{...record.head, bytes: () => contentAt(bytes, offsets, i + 1)}];
  });
}

/** The content after the first `count` records of a path. Applies splices from the last whole record on. */
function contentAt(bytes: Buffer, offsets: readonly number[], count: number): Buffer | undefined {
  const changes: ContentChange[] = [];
  for (let i = count - 1; i >= 0; i--) {
    const record = decodeRecord(bytes, offsets[i] ?? 0)?.record;
    if (!record || !('head' in record)) return undefined;
    changes.unshift(record.change);
    if (record.change === 'removal' || 'whole' in record.change) break;
  }
  let content: Buffer | undefined;
  for (const change of changes) content = applyChange(content, change);
  return content;
}
