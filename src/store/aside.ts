import {crashPoint} from './crash.ts';
import type {Disk, OpenFile} from './disk.ts';
import {blobId} from './git/blob-id.ts';

const FOLDER = '.agentdir/aside';
/** So large, the next file is begun: each goes when the last version in it has reached git. */
const LARGE = 8 * 1024 * 1024;

/** One file of versions, one after the other. */
interface Sheet {
  path: string;
  file: OpenFile;
  size: number;
  /** How many in it git does not have yet. */
  waiting: number;
}

/**
 * A second copy of what the daemon wrote, for as long as git has none: many wait for the journal, or it is large. Killed
 * then, and the file saved over by a person, the next daemon has it from here. A link to the file would not do: a person may write into
 * it. All go to the end of one file, since making and removing a file for each costs ten times as much. Not durable.
 */
export class Aside {
  readonly #disk: Disk;
  #sheet: Sheet | undefined;
  #count = 0;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** Must not throw: on a full disk there is no copy, which is needed only if the daemon is killed. Call what it gives when git has it. */
  keep(path: string, blob: string, bytes: Buffer): () => void {
    try {
      const sheet = this.#current();
      const head = Buffer.from(`${blob} ${bytes.length} ${JSON.stringify(path)}\n`);
      const length = head.length + bytes.length;
      const written = sheet.file.writeParts([head, bytes], sheet.size);
      if (written !== length) {
        sheet.file.truncate(sheet.size);
        return () => {};
      }
      sheet.size += length;
      sheet.waiting++;
      crashPoint('aside-write');
      return () => this.#drop(sheet);
    } catch {
      return () => {};
    }
  }

  /** What git does not have stays for the next daemon. */
  close(): void {
    const sheet = this.#sheet;
    this.#sheet = undefined;
    if (!sheet) return;
    sheet.file.close();
    if (sheet.waiting === 0) this.#disk.remove(sheet.path);
  }

  #current(): Sheet {
    const last = this.#sheet;
    if (last && last.size < LARGE) return last;
    this.#disk.makeDirectory(FOLDER);
    const {clock, processes} = this.#disk;
    const path = `${FOLDER}/${Math.trunc(clock.now())}-${processes.self().pid}-${this.#count++}`;
    this.#sheet = {path, file: this.#disk.open(path, 'wx', 0o600), size: 0, waiting: 0};
    last?.file.close();
    return this.#sheet;
  }

  #drop(sheet: Sheet): void {
    sheet.waiting--;
    if (sheet.waiting > 0) return;
    try {
      if (sheet !== this.#sheet) this.#disk.unlink(sheet.path);
      else {
        sheet.size = 0;
        sheet.file.truncate(0);
        // Somebody emptied .agentdir.
        if (sheet.file.stat().nlink === 0n) this.close();
      }
    } catch {
      // It is of no use any more, and in nobody's way.
    }
  }
}

/** A version that a killed daemon wrote. */
interface Left {
  path: string;
  blob: string;
  bytes: Buffer;
}

/**
 * Hand over what earlier daemons left, in the order in which it was written, and remove it. A version that is not whole is the
 * last of its file, and left out.
 */
export function takeAside(disk: Disk, take: (left: Left) => void): void {
  for (const name of namesIn(disk, FOLDER)) {
    const path = `${FOLDER}/${name}`;
    try {
      for (const left of versionsIn(disk.read(path))) take(left);
      disk.unlink(path);
    } catch {
      // A full disk: it stays, for the daemon after this one.
    }
  }
}

function namesIn(disk: Disk, folder: string): string[] {
  try {
    return disk.names(folder).sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
  } catch {
    return [];
  }
}

function* versionsIn(all: Buffer): Generator<Left> {
  for (let at = 0; at < all.length; ) {
    const end = all.indexOf(NEWLINE, at);
    const [, blob = '', size = '', name] = HEAD.exec(all.toString('utf8', at, end)) ?? [];
    const bytes = all.subarray(end + 1, end + 1 + Number(size));
    if (end === -1 || name === undefined || blobId(bytes) !== blob) return;
    yield {path: JSON.parse(name), blob, bytes};
    at = end + 1 + bytes.length;
  }
}

const NEWLINE = 10;
const HEAD = /^([0-9a-f]{40}) (\d+) ("(?:[^"\\]|\\.)*")$/;
