import {crc32} from 'node:zlib';
import {type ChangedRange, withRanges} from '../git/changed-ranges.ts';

export type FileMode = '100644' | '100755' | '120000';
export type Author = {name: string; email: string} | 'human';

/** The commit that `agentdir undo` reverted. Unlike a stale save, an undo may remove lines that must last. */
export interface VersionUndo {
  /** The reverted commit and its subject. */
  commit: string;
  words: string;
}

/**
 * One version of one file: its author, reason and base. The log has a version before the file does. Git gets a commit with the same
 * author, subject and trailers.
 */
export interface VersionHead {
  seq: number;
  /** Milliseconds since 1970. */
  time: number;
  path: string;
  author: Author;
  subject: string;
  trailers: readonly (readonly [string, string])[];
  /** The blob id of the content; null: the file was removed. */
  blob: string | null;
  mode: FileMode;
  /** The blob id of the content that this version replaced, if that content is in git and not in the log. */
  replaces?: string;
  /** The old path of a moved file, which the same change removed. */
  movedFrom?: string;
  /** Shares the commit of a version before it: see `JournalEntry`. */
  joins?: 'step' | 'last';
  /** Calls and approvals that this version marks as started: they must never start again. */
  started?: readonly string[];
  undo?: VersionUndo;
  /** Never published: the file is ignored or not journalled, or git already has this content. */
  local?: true;
  /**
   * A save from an older version. The next record is its merge with the version before it. After a crash, recovery starts from the
   * version before it.
   */
  stale?: true;
}

/** How a record stores its content: whole, or as changed ranges of the file's previous record. */
export type ContentChange = {whole: Buffer} | {ranges: readonly ChangedRange[]} | 'removal';

export interface VersionRecord {
  head: VersionHead;
  change: ContentChange;
}

/**
 * A later fact about versions, by number. `placed`: the file held it. `cancelled`: the file never held it, because the file had
 * changed. `published`: git has it and all before it; `commit` is its commit.
 */
export type VersionMark = {placed: number} | {cancelled: number} | {published: number; commit: string};

/** The first record of a segment. */
export interface SegmentHead {
  format: 1;
  /** The boot id of the machine. If it differs at the next start, unsynced files may be lost. */
  boot: string;
  /** The lowest version number that the segment may contain. */
  first: number;
  /** When the segment was created. All earlier segments are older. */
  created: number;
}

export type LogRecord = VersionRecord | {mark: VersionMark} | {segment: SegmentHead};

const FRAME = 8;
const HEAD_LENGTH = 4;
/** The largest record. A greater length field is garbage. */
const LARGEST = 256 * 1024 * 1024;

/** `u32 length, u32 crc32 of what follows, u32 length of the JSON, JSON, content`. */
export function encodeRecord(record: LogRecord): Buffer {
  const [json, content] = toJson(record);
  const head = Buffer.from(JSON.stringify(json));
  const frame = Buffer.allocUnsafe(FRAME + HEAD_LENGTH + head.length + content.length);
  const length = frame.length - FRAME;
  if (length > LARGEST) throw new RangeError('too large for the version log');
  frame.writeUInt32LE(length, 0);
  frame.writeUInt32LE(head.length, FRAME);
  head.copy(frame, FRAME + HEAD_LENGTH);
  content.copy(frame, FRAME + HEAD_LENGTH + head.length);
  frame.writeUInt32LE(crc32(frame.subarray(FRAME)), 4);
  return frame;
}

const NOTHING = Buffer.alloc(0);

function toJson(record: LogRecord): [json: object, content: Buffer] {
  if (!('head' in record)) return [record, NOTHING];
  const {head, change} = record;
  if (change === 'removal') return [{head}, NOTHING];
  if ('whole' in change) return [{head, whole: true}, change.whole];
  const ranges = change.ranges.map(({at, removed, inserted}) => [at, removed, inserted.length]);
  return [{head, ranges}, Buffer.concat(change.ranges.map(({inserted}) => inserted))];
}

/** The record at an offset and the offset of the next one. Undefined at the end, or if the record is torn. */
export function decodeRecord(bytes: Buffer, offset: number): {record: LogRecord; end: number} | undefined {
  const length = offset + FRAME <= bytes.length ? bytes.readUInt32LE(offset) : 0;
  const end = offset + FRAME + length;
  if (length < HEAD_LENGTH || length > LARGEST || end > bytes.length) return undefined;
  const body = bytes.subarray(offset + FRAME, end);
  if (crc32(body) !== bytes.readUInt32LE(offset + 4)) return undefined;
  const headEnd = HEAD_LENGTH + body.readUInt32LE(0);
  try {
    const json = JSON.parse(body.toString('utf8', HEAD_LENGTH, headEnd));
    return {record: fromJson(json, body.subarray(headEnd)), end};
  } catch {
    return undefined;
  }
}

/** `ranges`: offset, removed bytes and inserted bytes of each. Older versions wrote one range as `at` and `removed`. */
type VersionJson = {
  head: VersionHead;
  whole?: true;
  ranges?: [at: number, removed: number, inserted: number][];
  at?: number;
  removed?: number;
};

function fromJson(json: VersionJson | Exclude<LogRecord, VersionRecord>, content: Buffer): LogRecord {
  if (!('head' in json)) return json;
  const {head, whole, at, removed = 0} = json;
  if (whole) return {head, change: {whole: content}};
  const stored = json.ranges ?? (at === undefined ? undefined : [[at, removed, content.length]]);
  if (!stored) return {head, change: 'removal'};
  let end = 0;
  const ranges = stored.map(([at = 0, removed = 0, length = 0]) => {
    end += length;
    return {at, removed, inserted: content.subarray(end - length, end)};
  });
  return {head, change: {ranges}};
}

/** The content after a change. */
export function applyChange(before: Buffer | undefined, change: ContentChange): Buffer | undefined {
  if (change === 'removal') return undefined;
  if ('whole' in change) return change.whole;
  if (!before) throw new Error('changed ranges without their base');
  return withRanges(before, change.ranges);
}
