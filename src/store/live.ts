import {closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {clearAbandoned, temporaryBeside} from './temporary.ts';

export type LiveEnd = 'answered' | 'dropped' | 'failed';

/**
 * What a model is asked with: so many messages of the session file, and how many of those are answers. Its own is to
 * stand right after them. Older versions did not say.
 */
export interface AskedWith {
  messages: number;
  answers: number;
}

/** What happens in a turn, for whoever watches it. Derived: the session file alone says what was answered. */
export type LiveEvent = {at: string; agent: string; session: string; turn: string} & (
  | {event: 'begin'; after?: AskedWith}
  | {event: 'text'; text: string}
  | {event: 'call'; name: string; args: string}
  /** Whatever text came before is void; it is asked again at `next`. */
  | {event: 'retry'; why: string; next: string}
  | {event: 'end'; how: LiveEnd; why?: string}
);

/** An event without what all events of a turn share. */
type Told = LiveEvent extends infer Each ? (Each extends LiveEvent ? Omit<Each, keyof Shared> : never) : never;
type Shared = Pick<LiveEvent, 'at' | 'agent' | 'session' | 'turn'>;

const FLUSH_MS = 25;
const MAX_BYTES = 256 * 1024;

export const liveFolder = (home: string) => join(home, '.agentdir/live');
export const livePath = (home: string, session: string) => join(liveFolder(home), `${session}.jsonl`);

/**
 * The live output of a session: `.agentdir/live/<session>.jsonl`, a JSON line for each event. What comes within 25 ms is
 * one append, so a turn that takes no longer costs one. Never throws: output that cannot be written is missed by those
 * who watch, and by nobody else.
 */
export class LiveOutput {
  readonly #path: string;
  readonly #session: string;
  readonly #agent: string;
  #turn = '';
  #lines = '';
  /** Text that came since the last line. */
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  #file: number | undefined;
  #fresh = false;
  /** The file may end within a line: a process was killed, or a disk full. */
  #torn = true;

  constructor(home: string, session: string, agent: string) {
    this.#path = livePath(home, session);
    this.#session = session;
    this.#agent = agent;
  }

  begin(turn: string, after: AskedWith): void {
    this.#flush();
    this.#close();
    this.#turn = turn;
    this.#fresh = sizeOf(this.#path) > MAX_BYTES;
    this.#tell({event: 'begin', after});
  }

  text(delta: string): void {
    if (delta === '') return;
    this.#text += delta;
    this.#soon();
  }

  call(name: string, args: string): void {
    this.#tell({event: 'call', name, args});
  }

  /** The answer did not come; `at`: when it is asked for again. */
  retry(why: string, at: string): void {
    this.#tell({event: 'retry', why, next: at});
    // Many may wait at once, and for long: none of them holds a file open meanwhile.
    this.#flush();
    this.#close();
  }

  end(how: LiveEnd, why?: string): void {
    this.#tell(why === undefined ? {event: 'end', how} : {event: 'end', how, why});
    this.#flush();
    this.#close();
  }

  #tell(told: Told): void {
    this.#takeText();
    this.#line(told);
    this.#soon();
  }

  #takeText(): void {
    const text = this.#text;
    if (text === '') return;
    this.#text = '';
    this.#line({event: 'text', text});
  }

  #line(told: Told): void {
    const shared: Shared = {
      at: new Date().toISOString(),
      agent: this.#agent,
      session: this.#session,
      turn: this.#turn,
    };
    this.#lines += `${JSON.stringify({...shared, ...told})}\n`;
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#takeText();
    if (this.#lines === '') return;
    const lines = this.#torn ? `\n${this.#lines}` : this.#lines;
    this.#lines = '';
    try {
      this.#torn = true;
      this.#file ??= this.#open();
      this.#torn = writeSync(this.#file, lines) !== Buffer.byteLength(lines);
    } catch {
      this.#close();
    }
  }

  #open(): number {
    if (!this.#fresh) return openForAppend(this.#path);
    // Another file takes its place, so that whoever reads the old one reads it to its end and then turns to the new one.
    this.#fresh = false;
    clearAbandoned(dirname(this.#path));
    const temp = temporaryBeside(this.#path);
    const file = openForAppend(temp);
    try {
      renameSync(temp, this.#path);
    } catch (error) {
      closeSync(file);
      rmSync(temp, {force: true});
      throw error;
    }
    return file;
  }

  #close(): void {
    const file = this.#file;
    this.#file = undefined;
    try {
      if (file !== undefined) closeSync(file);
    } catch {
      this.#torn = true;
    }
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path, {throwIfNoEntry: false})?.size ?? 0;
  } catch {
    return 0;
  }
}

/** The folder is there nearly always: it is made when it is found missing. */
function openForAppend(path: string): number {
  try {
    return openSync(path, 'a');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // Only .agentdir and the folder in it: a home that was moved or deleted is not made again.
    for (const folder of [dirname(dirname(path)), dirname(path)]) if (!existsSync(folder)) mkdirSync(folder);
    return openSync(path, 'a');
  }
}
