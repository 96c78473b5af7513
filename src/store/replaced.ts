import {
  type BigIntStats,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlink,
} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {blobId} from './git/blob-id.ts';
import {isAbandoned} from './temporary.ts';

/**
 * The file that a save replaced, kept by a hard link. An editor that had it open writes into this one, not into the new
 * one: what it wrote is found here, in this run or after a crash, and merged.
 */
export interface Replaced {
  /** Of the file in the home. */
  path: string;
  by: Replacer;
  /** Git's name for what it held when it was compared, and the beginning of that for what took its place. */
  base: string;
  next: string;
  inode: bigint;
  /** When what it held was written. */
  since: bigint;
  /** The file by which it is kept, and when it was replaced. */
  link: string;
  at: number;
  /** What was written into it since; undefined if nothing. */
  late: () => Late | undefined;
  /** These bytes are taken care of: from now on only what is written after them is late. */
  after: (bytes: Buffer) => Replaced;
  /** What was replaced, if nothing was written into it since, or only lines at its end. */
  kept: () => Buffer | undefined;
  forget: () => void;
}

export interface Late {
  path: string;
  /** Git's name for what the file held when it was compared. */
  base: string;
  bytes: Buffer;
  /** Milliseconds since 1970. */
  writtenAt: number;
}

/** Longer than any file system's clock stands still. */
const TICK_MS = 50n;

/** What the daemon replaced; what commands did, for the daemon to look after. */
const FOLDERS = {daemon: '.agentdir/replaced', command: '.agentdir/sent'} as const;
export type Replacer = keyof typeof FOLDERS;

export interface Replacing {
  home: string;
  path: string;
  /** Where the file really is. */
  target: string;
  /** The file that will take its place, and is at this name until then. */
  temp: string;
  expected: Buffer;
  bytes: Buffer;
  by: Replacer;
}

/** Undefined where the file system has no hard links, or the path is too long for a name. */
export function keepReplaced({home, path, target, temp, expected, bytes, by}: Replacing): Replaced | undefined {
  const parts = [blobId(expected), idOf(temp), shortId(blobId(bytes)), Buffer.from(path).toString('base64url')];
  const name = parts.join('.');
  if (name.length > 255) return undefined;
  try {
    linkInto(join(home, FOLDERS[by]), target, name);
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'EXDEV' || code === 'EPERM' || code === 'ENOTSUP' || code === 'EMLINK') return undefined;
    throw error;
  }
  return replacedAt(home, by, name);
}

function linkInto(folder: string, target: string, name: string): void {
  try {
    linkSync(target, join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    mkdirSync(folder, {recursive: true});
    linkSync(target, join(folder, name));
  }
}

const MOST_LINES = 200;

/** That part of a file to which lines were appended. */
function beginning(bytes: Buffer, base: string): Buffer | undefined {
  let end = bytes.length;
  for (let lines = 0; lines < MOST_LINES && end > 0; lines++) {
    end = bytes.lastIndexOf(NEWLINE, end - 2) + 1;
    const part = bytes.subarray(0, end);
    if (blobId(part) === base) return part;
  }
  return undefined;
}

const NEWLINE = 10;

function replacedAt(home: string, by: Replacer, name: string): Replaced {
  const folder = FOLDERS[by];
  const link = join(home, folder, name);
  const [base = '', id = '', next = '', encoded = ''] = name.split('.');
  const path = Buffer.from(encoded, 'base64url').toString();
  const found = statSync(link, {bigint: true, throwIfNoEntry: false});
  /** The file as it was when nothing late was in it. */
  let seen: BigIntStats | undefined;
  return {
    path,
    by,
    base,
    next,
    inode: found?.ino ?? 0n,
    since: found?.mtimeNs ?? 0n,
    link,
    at: Number(found?.ctimeMs ?? 0n),
    late: () => {
      const stat = statSync(link, {bigint: true});
      if (stat.mtimeNs === seen?.mtimeNs && stat.size === seen.size) return undefined;
      const found = lateIn(link, join(home, path), path, base);
      // A write within the same tick of the clock as the last one would not show.
      if (!found && BigInt(Date.now()) - stat.mtimeMs > TICK_MS) seen = stat;
      return found;
    },
    after: bytes => {
      const later = [blobId(bytes), id, next, encoded].join('.');
      renameSync(link, join(home, folder, later));
      return replacedAt(home, by, later);
    },
    kept: () => {
      const bytes = readFileSync(link);
      return blobId(bytes) === base ? bytes : beginning(bytes, base);
    },
    // Freeing a file takes long on some file systems. Gone: somebody emptied .agentdir.
    forget: () => unlink(link, () => {}),
  };
}

/**
 * All that earlier runs left, oldest first. Where the crash came while the new file was still at its temporary name, nothing was
 * replaced: that is let go at once.
 */
export function leftReplaced(home: string): Replaced[] {
  const all = Object.keys(FOLDERS) as Replacer[];
  const left = all.flatMap(by =>
    namesIn(home, by).flatMap(name => {
      const replaced = replacedAt(home, by, name);
      const id = name.split('.')[1] ?? '';
      const nth = Number(id.slice(id.lastIndexOf('-') + 1));
      const temp = join(home, dirname(replaced.path), `.agentdir-${id}.tmp`);
      const found = statSync(temp, {bigint: true, throwIfNoEntry: false});
      if (found === undefined || found.ino === replaced.inode) return [{replaced, nth}];
      if (isAbandoned(basename(temp))) giveBack(temp, join(home, replaced.path), replaced.next);
      replaced.forget();
      return [];
    }),
  );
  // Within a tick of the clock, as the daemon counted them.
  const order = (a: (typeof left)[number], b: (typeof left)[number]) =>
    Number(a.replaced.since - b.replaced.since) || a.nth - b.nth;
  return left.sort(order).map(({replaced}) => replaced);
}

/** What is there is not what was to take its place: an editor's file, which came at the last moment and was to go back. */
function giveBack(temp: string, target: string, next: string): void {
  const [taken, there] = [temp, target].map(path => (existsSync(path) ? shortId(blobId(readFileSync(path))) : ''));
  if (taken !== next && there === next) renameSync(temp, target);
}

function namesIn(home: string, by: Replacer): string[] {
  try {
    return readdirSync(join(home, FOLDERS[by]));
  } catch {
    return [];
  }
}

/** What a command of ours replaced by this content; none if it was written by anybody else. */
export function replacedBy(home: string, path: string, blob: string): Replaced[] {
  const end = `.${shortId(blob)}.${Buffer.from(path).toString('base64url')}`;
  const names = namesIn(home, 'command').filter(name => name.endsWith(end));
  return names.map(name => replacedAt(home, 'command', name));
}

/** What tells one temporary file from all others: `.agentdir-ID.tmp`. */
function idOf(temp: string): string {
  return basename(temp, '.tmp').slice('.agentdir-'.length);
}

function lateIn(link: string, file: string, path: string, base: string): Late | undefined {
  const {ino, mtimeMs} = statSync(link, {bigint: true});
  const bytes = readFileSync(link);
  // Still, or again, the file itself: a crash came before the rename.
  const current = statSync(file, {bigint: true, throwIfNoEntry: false});
  if (current?.ino === ino) return undefined;
  return blobId(bytes) === base || bytes.length === 0 ? undefined : {path, base, bytes, writtenAt: Number(mtimeMs)};
}

/** Enough of git's name for a content to know it again, in a file name that has room for little. */
export function shortId(blob: string): string {
  return blob.slice(0, 16);
}
