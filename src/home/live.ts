import {type Cancel, timestamp} from './disk/clock.ts';
import type {Disk, OpenFile} from './disk/disk.ts';
import {clearAbandoned, temporaryBeside} from './temporary.ts';

export type LiveEnd = 'answered' | 'dropped' | 'failed';

/**
 * The messages that were sent to the model: how many messages of the session file, and how many of them are answers. The model's answer
 * comes right after them. Missing in events of older versions.
 */
export interface QuestionSize {
  messages: number;
  answers: number;
}

/** An event of a turn, for people who watch it. Derived: the session file has the actual answer. */
export type LiveEvent = {at: string; agent: string; session: string; turn: string} & (
  | {event: 'begin'; after?: QuestionSize}
  | {event: 'text'; text: string}
  | {event: 'call'; name: string; args: string}
  /** Discard the text so far: the model is asked again at `next`. */
  | {event: 'retry'; why: string; next: string}
  | {event: 'end'; how: LiveEnd; why?: string}
);

/** An event without the fields that all events share. */
type LiveEventBody = LiveEvent extends infer Each ? (Each extends LiveEvent ? Omit<Each, keyof Shared> : never) : never;
type Shared = Pick<LiveEvent, 'at' | 'agent' | 'session' | 'turn'>;

const FLUSH_MS = 25;
const MAX_BYTES = 256 * 1024;

const FOLDER = '.agentdir/live';

export const liveFolder = (home: string) => `${home}/${FOLDER}`;
export const livePath = (home: string, session: string) => `${home}/${FOLDER}/${session}.jsonl`;

/**
 * Writes the live output of a session to `.agentdir/live/<session>.jsonl`, one JSON line per event. Events within 25 ms are one append.
 * Must not throw: lost output only affects people who watch.
 */
export class LiveOutput {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #session: string;
  readonly #agent: string;
  #turn = '';
  #lines = '';
  /** Text received since the last line. */
  #text = '';
  #timer: Cancel | undefined;
  #file: OpenFile | undefined;
  #fresh = false;
  /** The file may end with an incomplete line, because a process was killed or the disk was full. */
  #torn = true;

  constructor(disk: Disk, session: string, agent: string) {
    this.#disk = disk;
    this.#path = `${FOLDER}/${session}.jsonl`;
    this.#session = session;
    this.#agent = agent;
  }

  begin(turn: string, after: QuestionSize): void {
    this.#flush();
    this.#close();
    this.#turn = turn;
    this.#fresh = sizeOf(this.#disk, this.#path) > MAX_BYTES;
    this.#append({event: 'begin', after});
  }

  text(delta: string): void {
    if (delta === '') return;
    this.#text += delta;
    this.#soon();
  }

  call(name: string, args: string): void {
    this.#append({event: 'call', name, args});
  }

  /** The request failed. `at`: when it is sent again. */
  retry(why: string, at: string): void {
    this.#append({event: 'retry', why, next: at});
    // Many sessions may wait for long: do not keep their files open.
    this.#flush();
    this.#close();
  }

  end(how: LiveEnd, why?: string): void {
    this.#append(why === undefined ? {event: 'end', how} : {event: 'end', how, why});
    this.#flush();
    this.#close();
  }

  #append(event: LiveEventBody): void {
    this.#takeText();
    this.#line(event);
    this.#soon();
  }

  #takeText(): void {
    const text = this.#text;
    if (text === '') return;
    this.#text = '';
    this.#line({event: 'text', text});
  }

  #line(event: LiveEventBody): void {
    const shared: Shared = {
      at: timestamp(this.#disk.clock),
      agent: this.#agent,
      session: this.#session,
      turn: this.#turn,
    };
    this.#lines += `${JSON.stringify({...shared, ...event})}\n`;
  }

  #soon(): void {
    this.#timer ??= this.#disk.clock.after(FLUSH_MS, () => this.#flush());
  }

  #flush(): void {
    this.#timer?.();
    this.#timer = undefined;
    this.#takeText();
    if (this.#lines === '') return;
    const lines = Buffer.from(this.#torn ? `\n${this.#lines}` : this.#lines);
    this.#lines = '';
    try {
      this.#torn = true;
      this.#file ??= this.#open();
      this.#torn = this.#file.write(lines) !== lines.length;
    } catch {
      this.#close();
    }
  }

  #open(): OpenFile {
    const disk = this.#disk;
    if (!this.#fresh) return openForAppend(disk, this.#path);
    // Replace the file instead of truncating it, so that readers can finish the old one first.
    this.#fresh = false;
    clearAbandoned(disk, FOLDER);
    const temp = temporaryBeside(disk, this.#path);
    const file = openForAppend(disk, temp);
    try {
      disk.rename(temp, this.#path);
    } catch (error) {
      file.close();
      disk.remove(temp);
      throw error;
    }
    return file;
  }

  #close(): void {
    const file = this.#file;
    this.#file = undefined;
    try {
      file?.close();
    } catch {
      this.#torn = true;
    }
  }
}

function sizeOf(disk: Disk, path: string): number {
  try {
    return Number(disk.stat(path)?.size ?? 0n);
  } catch {
    return 0;
  }
}

/** Create the folder only if opening fails: it nearly always exists. */
function openForAppend(disk: Disk, path: string): OpenFile {
  try {
    return disk.open(path, 'a');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    disk.makeDirectory(FOLDER);
    return disk.open(path, 'a');
  }
}
