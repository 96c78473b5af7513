import {timestamp} from './clock.ts';
import type {Disk} from './disk.ts';

const PLACE = '.agentdir/used';
const SINCE = 'since ';
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * What was begun once, by name: kept outside of git, so that files which git brings back from before do not make it run
 * again. The mark in the session is what counts; this is for when that is taken away. Its first line says since when it
 * is complete: what is older, the journal tells.
 */
export class UsedCalls {
  readonly #disk: Disk;
  #names: Set<string> | undefined;
  #bytes = 0;
  #since = '';
  /** Sessions of which all is here that the journal tells. */
  readonly #recalled = new Set<string>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  has(name: string): boolean {
    return this.#read().has(name);
  }

  /** Whether calls of this time may have begun without being here. */
  mayHaveForgotten(session: string, time: string): boolean {
    this.#read();
    return time < this.#since && !this.#recalled.has(session);
  }

  /** What the journal tells of a session. */
  recalled(session: string, names: readonly string[]): void {
    this.add(names.filter(name => !this.has(name)));
    this.#recalled.add(session);
  }

  /** Durable, when it returns. */
  add(names: readonly string[]): void {
    const known = this.#read();
    if (names.length === 0) return;
    const text = (this.#bytes === 0 ? `${SINCE}${this.#since}\n` : '') + names.map(name => `${name}\n`).join('');
    for (const name of names) known.add(name);
    this.#bytes += text.length;
    this.#disk.makeDirectory('.agentdir');
    this.#write(PLACE, text, 'a');
    if (this.#bytes > MOST_BYTES) this.#halve(known);
  }

  #read(): Set<string> {
    if (this.#names) return this.#names;
    let text = '';
    try {
      text = this.#disk.read(PLACE).toString();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    this.#bytes = text.length;
    const [first = '', ...rest] = text.split('\n');
    const begins = text === '' || first.startsWith(SINCE);
    this.#since = text === '' ? timestamp(this.#disk.clock) : first.startsWith(SINCE) ? first.slice(SINCE.length) : '';
    this.#names = new Set((begins ? rest : [first, ...rest]).filter(Boolean));
    return this.#names;
  }

  /** The older half is forgotten. */
  #halve(known: ReadonlySet<string>): void {
    const names = [...known].slice(known.size >> 1);
    this.#since = timestamp(this.#disk.clock);
    this.#recalled.clear();
    const text = `${SINCE}${this.#since}\n${names.join('\n')}\n`;
    this.#write(`${PLACE}.new`, text, 'w');
    this.#disk.rename(`${PLACE}.new`, PLACE);
    this.#names = new Set(names);
    this.#bytes = text.length;
  }

  #write(path: string, text: string, flags: 'a' | 'w'): void {
    const file = this.#disk.open(path, flags);
    try {
      file.write(Buffer.from(text));
      file.syncNow();
    } finally {
      file.close();
    }
  }
}
