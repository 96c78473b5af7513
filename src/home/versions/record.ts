import {crc32} from 'node:zlib';

export type FileMode = '100644' | '100755' | '120000';
export type Author = {name: string; email: string} | 'human';

/** What `agentdir undo` took back: such a version may lack lines that no stale buffer may remove. */
export interface VersionUndo {
  /** The commit that is taken back, and its subject. */
  commit: string;
  words: string;
}

/**
 * One version of one file: who wrote it, why, and what it was made from. The log holds it before the file does, and git gets
 * a commit with the same author, subject and trailers.
 */
export interface VersionHead {
  seq: number;
  /** Milliseconds since 1970. */
  time: number;
  path: string;
  author: Author;
  subject: string;
  trailers: readonly (readonly [string, string])[];
  /** Git's name for the content; null: the file was removed. */
  blob: string | null;
  mode: FileMode;
  /** The version that this one was made from, where that is not the one before it. */
  base?: number;
  /** Another path whose file was removed by the same change: the file was moved. */
  movedFrom?: string;
  /** Calls and approvals that this version marks as started: they must never start again. */
  started?: readonly string[];
  undo?: VersionUndo;
  /** Git ignores the file: the log alone has its versions. */
  local?: true;
  /**
   * A text that was saved from an older version: it is merged with the version before it, and the result is recorded next. A
   * start after a crash goes on from the version before it.
   */
  stale?: true;
}

/** How a record stores its content: whole, or as one replaced range of the record of the same file before it. */
export type ContentChange = {whole: Buffer} | {at: number; removed: number; inserted: Buffer} | 'removal';

export interface VersionRecord {
  head: VersionHead;
  change: ContentChange;
}

/**
 * A fact about earlier versions. `placed`: the file holds it. `cancelled`: it never became visible, because the file had
 * changed meanwhile. `published`: git has it and all before it, `commit` being the last one's commit.
 */
export type VersionMark = {placed: number} | {cancelled: number} | {published: number; commit: string};

/** The first record of a segment. */
export interface SegmentHead {
  format: 1;
  /** The boot of the machine in which it was written: another one means that unsynced files may be lost. */
  boot: string;
  /** The number of the first version that it may hold. */
  first: number;
  /** When it was begun: the segment before it has nothing newer. */
  created: number;
}

export type LogRecord = VersionRecord | {mark: VersionMark} | {segment: SegmentHead};

const FRAME = 8;
const HEAD_LENGTH = 4;
/** No record is larger: a length beyond it is garbage. */
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
  return [{head, at: change.at, removed: change.removed}, change.inserted];
}

/** The record at an offset and where the next one begins; undefined at the end, or where the rest is torn. */
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

type VersionJson = {head: VersionHead; whole?: true; at?: number; removed?: number};

function fromJson(json: VersionJson | Exclude<LogRecord, VersionRecord>, content: Buffer): LogRecord {
  if (!('head' in json)) return json;
  const {head, whole, at, removed} = json;
  if (whole) return {head, change: {whole: content}};
  return {head, change: at === undefined ? 'removal' : {at, removed: removed ?? 0, inserted: content}};
}

/** Compared in steps of this size first: files are long and changes are short. */
const STEP = 4_096;

/** The one range in which two texts differ. */
export function spliceOf(before: Buffer, after: Buffer): {at: number; removed: number; inserted: Buffer} {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at + STEP <= most && before.compare(after, at, at + STEP, at, at + STEP) === 0) at += STEP;
  while (at < most && before[at] === after[at]) at++;
  let tail = 0;
  const rest = most - at;
  const isSame = (length: number) =>
    before.compare(
      after,
      after.length - tail - length,
      after.length - tail,
      before.length - tail - length,
      before.length - tail,
    ) === 0;
  while (tail + STEP <= rest && isSame(STEP)) tail += STEP;
  while (tail < rest && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return {at, removed: before.length - tail - at, inserted: after.subarray(at, after.length - tail)};
}

/** The content that a change makes of the one before it. */
export function applyChange(before: Buffer | undefined, change: ContentChange): Buffer | undefined {
  if (change === 'removal') return undefined;
  if ('whole' in change) return change.whole;
  if (!before) throw new Error('a splice without the text that it is made from');
  const {at, removed, inserted} = change;
  return Buffer.concat([before.subarray(0, at), inserted, before.subarray(at + removed)]);
}
