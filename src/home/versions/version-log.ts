import {blobId} from '../git/blob-id.ts';
import {
  applyChange,
  type ContentChange,
  decodeRecord,
  encodeRecord,
  type LogRecord,
  type SegmentHead,
  spliceOf,
  type VersionHead,
  type VersionMark,
} from './record.ts';

/** Where segments are kept: `.agentdir/versions/` of a home, or a simulated disk. */
export interface LogStorage {
  /** Make the folder, so that a later start knows that there is a log. Must not throw: a full disk is reported with the first version. */
  prepare(): void;
  /** Names of segments, in the order in which they were made. */
  list(): string[];
  /** The whole of it, or its first `length` bytes. */
  read(name: string, length?: number): Buffer;
  create(name: string): LogFile;
  remove(name: string): void;
}

export interface LogFile {
  /** All of the bytes, or it throws what the disk says; what it wrote of them until then does not count. */
  write(bytes: Buffer, at: number): void;
  /** Rejects with `NotDurable` if the disk did not keep what was written. */
  sync(): Promise<void>;
  truncate(length: number): void;
  close(): void;
}

/** A version to be recorded. Its number and time are given by the log. */
export interface NewVersion extends Omit<VersionHead, 'seq' | 'time' | 'blob'> {
  /** Undefined: the file is removed. */
  bytes: Buffer | undefined;
  /** Git's name for the bytes, where it is known already. */
  blob?: string | undefined;
}

/** A recorded version, with its content on demand. */
export interface LoggedVersion extends VersionHead {
  bytes(): Buffer | undefined;
}

/** A version that git does not have yet. */
export interface UnpublishedVersion extends LoggedVersion {
  /** Whether the file held it at some time. */
  placed: boolean;
}

export interface VersionLogOptions {
  now: () => number;
  /** The boot of the machine; see `SegmentHead`. */
  boot: string;
  /** The number up to which a checkpoint knows the last version of every file. */
  checkpoint: number;
}

interface Segment {
  name: string;
  /** Its first record; undefined until it is needed, null if it is not whole. */
  head: SegmentHead | null | undefined;
  /** The offsets of the records of each path; undefined until it is needed. */
  offsets: Map<string, number[]> | undefined;
}

/** The last version of a path in the segment that is being written: what the next one is stored as a change of. */
interface Previous {
  bytes: Buffer;
  splices: number;
}

const LARGEST_SEGMENT = 8 * 1024 * 1024;
/** Written ahead in zeros: a sync within the length of a file need not write its metadata. */
const AHEAD = 256 * 1024;
const ZEROS = Buffer.alloc(AHEAD);
/** After so many changes in a row a version is stored whole, so that none takes long to read. */
const MOST_SPLICES = 32;
/** Characters kept of previous versions. */
const MOST_PREVIOUS = 16 * 1024 * 1024;
/** An editor may have an older version open for so long. */
export const KEPT_MS = 3_600_000;
/** After a power cut, files written so long before it may lack what was written: no system keeps it in memory for longer. */
const UNSYNCED_MS = 120_000;
/** Bytes of the first record of a segment, and more. */
const LONGEST_HEAD = 4_096;
/** The author of what people save, who need no mark that the file held it. */
const PERSON = 'human';
const NAME = /^\d{6,}\.log$/;

/**
 * The version log: an append-only record of every version of every file of the home, written before the version becomes
 * visible or is acted on. Git is published from it, and a start after a crash reads it.
 */
export class VersionLog {
  readonly #storage: LogStorage;
  readonly #options: VersionLogOptions;
  /** Oldest first; the last one is being written. */
  readonly #segments: Segment[] = [];
  readonly #unpublished = new Map<number, UnpublishedVersion>();
  readonly #last = new Map<string, UnpublishedVersion>();
  readonly #previous = new Map<string, Previous>();
  #previousLength = 0;
  #file: LogFile | undefined;
  #end = 0;
  #allocated = 0;
  #seq = 0;
  #published = 0;
  #commit = '';
  #synced: {file: LogFile; end: number} | undefined;
  #syncing: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** The disk did not keep a segment that was full. */
  #failed: Error | undefined;
  /**
   * Found by `open`, the last of each path: versions of an earlier run that came after the checkpoint; after a power cut, also those
   * whose files may not have reached the disk.
   */
  readonly recovered = new Map<string, UnpublishedVersion>();
  /** Found by `open`: calls and approvals that were started since the checkpoint, and perhaps before. */
  readonly started: string[] = [];
  /** Found by `open`: versions that files held, and the first one that was read. */
  readonly #placed = new Set<number>();
  #firstRead = 0;
  /** Found by `open`: the machine was started since, so files may lack what was not synced. */
  rebooted = false;

  private constructor(storage: LogStorage, options: VersionLogOptions) {
    this.#storage = storage;
    this.#options = options;
  }

  /** Read what earlier runs wrote, as far back as git or the checkpoint lack something. */
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

  /** The last version that git has, and its commit. */
  get published(): {seq: number; commit: string} {
    return {seq: this.#published, commit: this.#commit};
  }

  /** Versions that git does not have yet, oldest first. */
  get unpublished(): Iterable<UnpublishedVersion> {
    return this.#unpublished.values();
  }

  /** The last version of a path that git does not have yet. */
  lastUnpublished(path: string): UnpublishedVersion | undefined {
    return this.#last.get(path);
  }

  /** Record a version. It is durable when a `durable()` that is called after this resolves. Throws what the disk says. */
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
    const splice = bytes && before && before.splices < MOST_SPLICES ? spliceOf(before.bytes, bytes) : undefined;
    const isShort = bytes && splice && splice.inserted.length < bytes.length / 2;
    const change = !bytes ? 'removal' : isShort ? splice : {whole: bytes};
    const at = this.#write({head, change});
    this.#seq = head.seq;
    addTo(segment.offsets, path, at);
    this.#remember(path, bytes, isShort ? (before?.splices ?? 0) + 1 : 0);
    const version: UnpublishedVersion = {...head, bytes: () => bytes, placed: false};
    if (!head.local) this.#await(version);
    return version;
  }

  /** When everything that was appended until now is on the disk. Many callers share one sync. */
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

  /** The file holds the last of these versions now, and held the others if only for a moment. */
  placed(versions: readonly UnpublishedVersion[]): void {
    for (const version of versions) version.placed = true;
    this.#mark(versions.filter(({author}) => author !== PERSON).map(({seq}) => ({placed: seq})));
  }

  /** Whether the file held a version of an earlier run. What a person saved, it always did. */
  wasPlaced({seq, author}: VersionHead): boolean {
    return author === PERSON || seq < this.#firstRead || this.#placed.has(seq);
  }

  /** This version never became visible: the file had changed before it could be put in place. */
  cancelled(version: UnpublishedVersion): void {
    this.#forget(version, true);
    this.#previous.delete(version.path);
    this.#mark([{cancelled: version.seq}]);
  }

  /** Git has these versions, the last one of them in `commit`. In the order in which they were appended. */
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

  /** Drop segments that git has, that a checkpoint covers and that no open editor can be from. */
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

  /** Sync what was appended, and make the last segment as short as it can be. Must not throw: the next start reads what there is. */
  async close(): Promise<void> {
    try {
      await this.durable();
      this.#file?.truncate(this.#end);
    } catch {
      // The disk is full, or does not keep what is written, which was reported by whoever waited for it.
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
      // A segment that was being made when the machine went down has no head.
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

  /** Git is to get this version. */
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
      // A full disk: the next start compares the file and git's history instead.
    }
  }

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
    // Whoever waits for `durable` waits for what the last segment holds, too.
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

  /** Sync and close a segment that is full. */
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

  /** Where the first record begins. */
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
      // A disk that is nearly full: the record itself may still have room.
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

/** In `offsets`: the marks of cancelled versions. No path is empty. */
const CANCELLED = '';

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

/** All records of a segment, up to its end or to a torn one. */
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

/** Versions of one path at these offsets of a segment, oldest first. */
function versionsAt(bytes: Buffer, offsets: readonly number[]): LoggedVersion[] {
  return offsets.flatMap((offset, i) => {
    const record = decodeRecord(bytes, offset)?.record;
    if (!record || !('head' in record)) return [];
    return [{...record.head, bytes: () => contentAt(bytes, offsets, i + 1)}];
  });
}

/** The content of the last of the first `count` records, each of them a change of the one before it. */
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
