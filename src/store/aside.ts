import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writevSync,
} from 'node:fs';
import {join} from 'node:path';
import {crashPoint} from './crash.ts';
import {blobId} from './git/blob-id.ts';

const FOLDER = '.agentdir/aside';
/** So large, the next file is begun: each goes when the last version in it has reached git. */
const LARGE = 8 * 1024 * 1024;

/** One file of versions, one after the other. */
interface Sheet {
  file: string;
  fd: number;
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
  readonly #folder: string;
  #sheet: Sheet | undefined;
  #count = 0;

  constructor(home: string) {
    this.#folder = join(home, FOLDER);
  }

  /** Must not throw: on a full disk there is no copy, which is needed only if the daemon is killed. Call what it gives when git has it. */
  keep(path: string, blob: string, bytes: Buffer): () => void {
    try {
      const sheet = this.#current();
      const head = Buffer.from(`${blob} ${bytes.length} ${JSON.stringify(path)}\n`);
      const length = head.length + bytes.length;
      const written = writevSync(sheet.fd, [head, bytes], sheet.size);
      if (written !== length) {
        ftruncateSync(sheet.fd, sheet.size);
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
    closeSync(sheet.fd);
    if (sheet.waiting === 0) rmSync(sheet.file, {force: true});
  }

  #current(): Sheet {
    const last = this.#sheet;
    if (last && last.size < LARGE) return last;
    mkdirSync(this.#folder, {recursive: true});
    const file = join(this.#folder, `${Date.now()}-${process.pid}-${this.#count++}`);
    this.#sheet = {file, fd: openSync(file, 'wx', 0o600), size: 0, waiting: 0};
    if (last) closeSync(last.fd);
    return this.#sheet;
  }

  #drop(sheet: Sheet): void {
    sheet.waiting--;
    if (sheet.waiting > 0) return;
    try {
      if (sheet !== this.#sheet) unlinkSync(sheet.file);
      else {
        sheet.size = 0;
        ftruncateSync(sheet.fd);
        // Somebody emptied .agentdir.
        if (fstatSync(sheet.fd).nlink === 0) this.close();
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
export function takeAside(home: string, take: (left: Left) => void): void {
  const folder = join(home, FOLDER);
  for (const name of namesIn(folder)) {
    const file = join(folder, name);
    try {
      for (const left of versionsIn(readFileSync(file))) take(left);
      rmSync(file);
    } catch {
      // A full disk: it stays, for the daemon after this one.
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
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
