import {closeSync, fstatSync, openSync, readSync, statSync} from 'node:fs';
import type {LiveEvent} from './live.ts';

const CHUNK = 64 * 1024;

/** Reads new events of a live file, which grows and is sometimes replaced. */
export class LiveTail {
  readonly path: string;
  #file: number | undefined;
  #identity = '';
  #offset = 0;
  /** The beginning of an incomplete line. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.path = path;
  }

  /** The events of all complete lines since the last call. */
  read(): LiveEvent[] {
    const found = statOf(this.path);
    if (found?.identity === this.#identity && found.size === this.#offset) return [];
    const events: LiveEvent[] = [];
    if (found?.identity !== this.#identity) {
      // Read the old file to its end before turning to the new one.
      events.push(...this.#toEnd());
      this.close();
      this.#startOver('');
    }
    if (found) {
      this.#open();
      events.push(...this.#toEnd());
    }
    // The file is only replaced between turns, so closing it here misses nothing.
    if (events.at(-1)?.event === 'end') this.close();
    return events;
  }

  /** Skip to the end of the file. */
  skip(): void {
    const found = statOf(this.path);
    if (!found) return;
    this.#identity = found.identity;
    this.#offset = found.size;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #open(): void {
    if (this.#file !== undefined) return;
    try {
      this.#file = openSync(this.path, 'r');
    } catch {
      return;
    }
    const {identity, size} = identify(fstatSync(this.#file, {bigint: true}));
    if (identity !== this.#identity || size < this.#offset) this.#startOver(identity);
  }

  #startOver(identity: string): void {
    this.#identity = identity;
    this.#offset = 0;
    this.#rest = Buffer.alloc(0);
  }

  #toEnd(): LiveEvent[] {
    const events: LiveEvent[] = [];
    if (this.#file === undefined) return events;
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (;;) {
      const got = readSync(this.#file, buffer, 0, CHUNK, this.#offset);
      if (got === 0) return events;
      this.#offset += got;
      const bytes = Buffer.concat([this.#rest, buffer.subarray(0, got)]);
      const end = bytes.lastIndexOf(10) + 1;
      this.#rest = bytes.subarray(end);
      for (const line of bytes.toString('utf8', 0, end).split('\n')) {
        const event = parseLine(line);
        if (event) events.push(event);
      }
    }
  }
}

/** Undefined: a blank or torn line. */
function parseLine(line: string): LiveEvent | undefined {
  if (line === '') return undefined;
  try {
    const event = JSON.parse(line) as LiveEvent | null;
    return typeof event?.event === 'string' ? event : undefined;
  } catch {
    return undefined;
  }
}

/** Identifies the file or folder at a path, also after a rename. '' if there is none. */
export function identityOf(path: string): string {
  return statOf(path)?.identity ?? '';
}

function statOf(path: string): {identity: string; size: number} | undefined {
  const stat = statSync(path, {bigint: true, throwIfNoEntry: false});
  return stat && identify(stat);
}

/** Inode numbers are reused, but not together with the same creation time. */
function identify({ino, birthtimeNs, size}: {ino: bigint; birthtimeNs: bigint; size: bigint}) {
  return {identity: `${ino}.${birthtimeNs}`, size: Number(size)};
}
