import {basename} from 'node:path';
import type {Cursor} from '../../formats/cursor-file.ts';
import {isIdentified} from '../../home/inbox-lines.ts';
import type {InboxDelivery} from '../../home/status.ts';
import {LinesRead, MAX_REMEMBERED_LINES} from './lines-read.ts';
import type {Schedules} from './schedules.ts';

/** The reading state of an inbox. Can be rebuilt from files. */
export interface InboxReading {
  readonly path: string;
  /** File name, such as slack.jsonl. */
  readonly name: string;
  /** How far the inbox is read and delivered; undefined before the first look. */
  cursor: Cursor | undefined;
  /** The text of the cursor file. */
  saved: string;
  /** When a save of the cursor was last requested, monotonic. */
  savedAt: number;
  /** Generations of files that the saved cursor identifies by their content. */
  claimed: ReadonlySet<number>;
  /** Hashes of the lines that were read. */
  lines: LinesRead;
  /** `lines` includes those of earlier runs, as far as that is cheap. */
  counted: boolean;
  /** In a file that an editor rewrote: lines that were delivered before and are skipped. */
  skip: LinesRead | undefined;
  /** Number of letters that are not delivered yet. */
  underWay: number;
  /** The file no longer begins with the lines that were read: its signature, and since when. */
  changedContent: {signature: string; since: number} | undefined;
  /** A last line without newline: its start, and how far it was scanned. */
  unfinished: {from: number; to: number} | undefined;
  /** Zero bytes at this offset, the file size when they were found, and when that was. */
  hole: {at: number; to: number; since: number} | undefined;
  /** Sessions that will get more lines of this inbox. */
  readonly expecting: Set<string>;
  /** Ids of lines that earlier runs rejected. Undefined: not read yet, or the last try to reject lines failed. */
  rejectedBefore: ReadonlySet<string> | undefined;
  /** Where the last delivered line went, in this run. */
  lastDelivery: InboxDelivery | undefined;
  /** Why the inbox cannot continue. */
  waitsFor: string | undefined;
  /** Progress of reading a large inbox: when it was last reported (or reading began), and whether it was reported. */
  progress: {at: number; reported: boolean} | undefined;
}

/** The cursor file has this text. */
export function setSaved(reading: InboxReading, text: string, cursor: Cursor | undefined): void {
  const saved = cursor ? [cursor, ...(cursor.rotated ?? [])] : [];
  reading.saved = text;
  reading.claimed = new Set(saved.filter(({head}) => isIdentified({head})).map(({generation}) => generation));
}

/** The inboxes of the home, by path. */
export class Inboxes {
  readonly #readings = new Map<string, InboxReading>();
  /** Files created after this time (ns) were created while this home was served. */
  readonly servedSince: bigint;
  /** Messages at fixed times. */
  readonly schedules: Schedules;
  /** Ids of lines that were rejected for a missing agent and are delivered now. */
  readonly released = new Set<string>();
  /** Ids of such lines that are being delivered. */
  readonly releasing = new Set<string>();
  /** Keys of delivered or posted records; undefined until first needed. */
  keys: Promise<Set<string>> | undefined;

  constructor(servedSince: bigint, schedules: Schedules) {
    this.servedSince = servedSince;
    this.schedules = schedules;
  }

  readingOf(path: string): InboxReading {
    const known = this.#readings.get(path);
    if (known) return known;
    const reading: InboxReading = {
      path,
      name: basename(path),
      cursor: undefined,
      saved: '',
      savedAt: 0,
      claimed: new Set(),
      lines: new LinesRead(MAX_REMEMBERED_LINES),
      counted: false,
      skip: undefined,
      underWay: 0,
      changedContent: undefined,
      unfinished: undefined,
      hole: undefined,
      expecting: new Set(),
      rejectedBefore: undefined,
      lastDelivery: undefined,
      waitsFor: undefined,
      progress: undefined,
    };
    this.#readings.set(path, reading);
    return reading;
  }

  get(path: string): InboxReading | undefined {
    return this.#readings.get(path);
  }

  /** Where the last line of each inbox went in this run. */
  delivered(): Record<string, InboxDelivery> {
    const known = [...this.#readings.values()];
    return Object.fromEntries(known.flatMap(({path, lastDelivery}) => (lastDelivery ? [[path, lastDelivery]] : [])));
  }

  paths(): Iterable<string> {
    return this.#readings.keys();
  }

  /** Paths of inboxes that wait for an agent, or for a setting that names one. */
  waiting(): string[] {
    return [...this.#readings.values()].filter(({waitsFor}) => waitsFor !== undefined).map(({path}) => path);
  }
}
