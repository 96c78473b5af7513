import {basename} from 'node:path';
import type {Cursor} from '../../formats/cursor-file.ts';
import {LinesRead, MAX_REMEMBERED_LINES} from './lines-read.ts';
import type {Schedules} from './schedules.ts';

/** How far an inbox is read. All of it can be found out again from files. */
export interface InboxReading {
  readonly path: string;
  /** Of the file: slack.jsonl. */
  readonly name: string;
  /** How far it is read and delivered; undefined: nobody has looked yet. */
  cursor: Cursor | undefined;
  /** The cursor as its file has it, when it was written, and how many lines ago. */
  saved: string;
  savedAt: number;
  /** The inode of the last file with this name, if it is read to its end and no file has the name now. */
  finishedFile: string | undefined;
  /** Lines that were read, by content. */
  lines: LinesRead;
  /** Those that an earlier run had read are among them, as far as that is cheap. */
  counted: boolean;
  /** Of a file that an editor wrote anew: lines that were delivered before, and are not again. */
  skip: LinesRead | undefined;
  /** Letters that are not delivered yet. */
  underWay: number;
  /** The file no longer begins with what was read: its signature, and since when. */
  changedContent: {signature: string; since: number} | undefined;
  /** The last line, which is not finished: where it begins, and up to where that is known. */
  unfinished: {from: number; to: number} | undefined;
  /** Zero bytes at this place, how far the file went when they were found, and when that was. */
  hole: {at: number; to: number; since: number} | undefined;
  /** Sessions that more lines come for. */
  readonly expecting: Set<string>;
  /** Lines that were set aside in this run. */
  rejected: number;
  /** What the inbox waits for, in words. */
  waitsFor: string | undefined;
  /** There is more to read than is read at a time: when it was last said how far it is, and whether it was said at all. */
  long: {told: number; said: boolean} | undefined;
}

/** The inboxes of the home, by path. */
export class Inboxes {
  readonly #readings = new Map<string, InboxReading>();
  /** A file that was made later was made while this home was served, ns. */
  readonly servedSince: bigint;
  /** Messages at fixed times. */
  readonly schedules: Schedules;
  /** Lines that had been set aside for an agent that was not there, and are delivered by now, by id. */
  readonly released = new Set<string>();
  /** The same, on their way. */
  readonly releasing = new Set<string>();
  /** Records with a key that were posted in this run, or are in sessions; undefined: nobody has looked yet. */
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
      finishedFile: undefined,
      lines: new LinesRead(MAX_REMEMBERED_LINES),
      counted: false,
      skip: undefined,
      underWay: 0,
      changedContent: undefined,
      unfinished: undefined,
      hole: undefined,
      expecting: new Set(),
      rejected: 0,
      waitsFor: undefined,
      long: undefined,
    };
    this.#readings.set(path, reading);
    return reading;
  }

  get(path: string): InboxReading | undefined {
    return this.#readings.get(path);
  }

  paths(): Iterable<string> {
    return this.#readings.keys();
  }

  /** Paths of those that wait for an agent, or for the settings to name one. */
  waiting(): string[] {
    return [...this.#readings.values()].filter(({waitsFor}) => waitsFor !== undefined).map(({path}) => path);
  }
}
