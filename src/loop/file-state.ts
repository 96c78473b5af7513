import type {BigIntStats} from 'node:fs';
import type {FileSnapshot} from './file-snapshot.ts';

/** The daemon's state of one file. A cache: reading the file again gives the same. */
export interface FileState {
  /** `statSignature(stat)` when the file was last read. */
  signature: string;
  /** Git's id of the last accepted content. */
  blob: string;
  /** Git's id of the last content without errors of its own. A stale save is merged with it. */
  good: string | undefined;
  /** Git ignores the file, so the journal does not have it. */
  ignored: boolean;
  /** Nothing is left to do for this content. */
  settled: boolean;
}

/** Differs after every change of the file, except for two writes within one tick of the file system's clock. */
export function statSignature(stat: Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>): string {
  return `${stat.ino}.${stat.size}.${stat.mtimeNs}.${stat.ctimeNs}`;
}

/** Whether git would record the file as executable. */
export function isExecutable({mode}: Pick<BigIntStats, 'mode'>): boolean {
  return (mode & 0o100n) !== 0n;
}

/** Texts of recent versions by blob id, up to a total length. The version log and git have the older ones. */
export class VersionTexts {
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

/** The last snapshot of each file, up to a total length. With it, the next turn of a session parses only the new messages. */
export class RecentSnapshots {
  readonly #snapshots = new Map<string, FileSnapshot>();
  readonly #limit: number;
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(path: string): FileSnapshot | undefined {
    return this.#snapshots.get(path);
  }

  /** `undefined` removes the snapshot. */
  set(path: string, snapshot: FileSnapshot | undefined): void {
    this.#length -= this.#snapshots.get(path)?.bytes.length ?? 0;
    this.#snapshots.delete(path);
    if (!snapshot) return;
    this.#snapshots.set(path, snapshot);
    this.#length += snapshot.bytes.length;
    for (const [oldest, {bytes}] of this.#snapshots) {
      if (this.#length <= this.#limit) break;
      this.#snapshots.delete(oldest);
      this.#length -= bytes.length;
    }
  }
}
