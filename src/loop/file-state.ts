import type {BigIntStats} from 'node:fs';
import type {FileSnapshot} from './file-snapshot.ts';

/** What the daemon knows of a file: a cache, and nothing that a look at the file would not give. */
export interface FileState {
  /** The file as it was when last read: `statSignature(stat)`. */
  signature: string;
  /** Git's name for the content that was accepted last. */
  blob: string;
  /** Git's name for the last content without errors of its own: what a stale save is merged with. */
  good: string | undefined;
  /** Git ignores it: it is not in the journal. */
  ignored: boolean;
  /** Nothing was left to decide about this content. */
  settled: boolean;
}

/** Changes whenever the file does, up to two writes within one tick of the file system's clock. */
export function statSignature(stat: Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>): string {
  return `${stat.ino}.${stat.size}.${stat.mtimeNs}.${stat.ctimeNs}`;
}

/** Whether git would have it as executable. */
export function isExecutable({mode}: Pick<BigIntStats, 'mode'>): boolean {
  return (mode & 0o100n) !== 0n;
}

/** Texts of recent versions, by blob, up to a total length; older ones are in git. */
export class Texts {
  readonly #texts = new Map<string, string>();
  readonly #limit: number;
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(blob: string): string | undefined {
    return this.#texts.get(blob);
  }

  set(blob: string, text: string): void {
    if (this.#texts.has(blob) || text.length > this.#limit / 4) return;
    this.#texts.set(blob, text);
    this.#length += text.length;
    for (const [oldest, old] of this.#texts) {
      if (this.#length <= this.#limit) break;
      this.#texts.delete(oldest);
      this.#length -= old.length;
    }
  }
}

/** Files as they were read last, up to a total length: of a session, the next turn then parses only what it adds. */
export class Latest {
  readonly #seen = new Map<string, FileSnapshot>();
  readonly #limit: number;
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(path: string): FileSnapshot | undefined {
    return this.#seen.get(path);
  }

  /** Undefined: there is nothing to go by any more. */
  set(path: string, seen: FileSnapshot | undefined): void {
    this.#length -= this.#seen.get(path)?.bytes.length ?? 0;
    this.#seen.delete(path);
    if (!seen) return;
    this.#seen.set(path, seen);
    this.#length += seen.bytes.length;
    for (const [oldest, {bytes}] of this.#seen) {
      if (this.#length <= this.#limit) break;
      this.#seen.delete(oldest);
      this.#length -= bytes.length;
    }
  }
}
