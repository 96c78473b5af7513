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
  /** Git's name for what it held when it was compared, and the beginning of that for what took its place. */
  base: string;
  next: string;
  inode: bigint;
  /** What was written into it since; undefined if nothing. */
  late: () => Late | undefined;
  /** These bytes are taken care of: from now on only what is written after them is late. */
  after: (bytes: Buffer) => Replaced;
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

/** Links to files that the daemon or a command replaced. */
const FOLDER = '.agentdir/replaced';

export interface Replacing {
  home: string;
  path: string;
  /** Where the file really is. */
  target: string;
  /** The file that will take its place, and is at this name until then. */
  temp: string;
  expected: Buffer;
  bytes: Buffer;
}

/** Undefined where the file system has no hard links, or the path is too long for a name. */
export function keepReplaced({home, path, target, temp, expected, bytes}: Replacing): Replaced | undefined {
  const parts = [blobId(expected), idOf(temp), shortId(blobId(bytes)), Buffer.from(path).toString('base64url')];
  const name = parts.join('.');
  if (name.length > 255) return undefined;
  try {
    linkInto(join(home, FOLDER), target, name);
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'EXDEV' || code === 'EPERM' || code === 'ENOTSUP' || code === 'EMLINK') return undefined;
    throw error;
  }
  return replacedAt(home, name);
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

function replacedAt(home: string, name: string): Replaced {
  const link = join(home, FOLDER, name);
  const [base = '', id = '', next = '', encoded = ''] = name.split('.');
  const path = Buffer.from(encoded, 'base64url').toString();
  const found = statSync(link, {bigint: true, throwIfNoEntry: false});
  /** The file as it was when nothing late was in it. */
  let seen: BigIntStats | undefined;
  return {
    path,
    base,
    next,
    inode: found?.ino ?? 0n,
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
      renameSync(link, join(home, FOLDER, later));
      return replacedAt(home, later);
    },
    // Freeing a file takes long on some file systems. Gone: somebody emptied .agentdir.
    forget: () => unlink(link, () => {}),
  };
}

/**
 * All that earlier runs left. Where the crash came while the new file was still at its temporary name, nothing was
 * replaced: that is let go at once.
 */
export function leftReplaced(home: string): Replaced[] {
  return namesIn(home).flatMap(name => {
    const replaced = replacedAt(home, name);
    const id = name.split('.')[1] ?? '';
    const temp = join(home, dirname(replaced.path), `.agentdir-${id}.tmp`);
    const found = statSync(temp, {bigint: true, throwIfNoEntry: false});
    if (found === undefined || found.ino === replaced.inode) return [replaced];
    if (isAbandoned(basename(temp))) giveBack(temp, join(home, replaced.path), replaced.next);
    replaced.forget();
    return [];
  });
}

/** What is there is not what was to take its place: an editor's file, which came at the last moment and was to go back. */
function giveBack(temp: string, target: string, next: string): void {
  const [taken, there] = [temp, target].map(path => (existsSync(path) ? shortId(blobId(readFileSync(path))) : ''));
  if (taken !== next && there === next) renameSync(temp, target);
}

function namesIn(home: string): string[] {
  try {
    return readdirSync(join(home, FOLDER));
  } catch {
    return [];
  }
}

/** The content of a version that was replaced at a path, as long as its file is linked and nobody wrote into it. */
export function replacedContent(home: string, path: string, base: string): Buffer | undefined {
  const end = `.${Buffer.from(path).toString('base64url')}`;
  const name = namesIn(home).find(each => each.startsWith(`${base}.`) && each.endsWith(end));
  const bytes = name === undefined ? undefined : readFileSync(join(home, FOLDER, name));
  return bytes && blobId(bytes) === base ? bytes : undefined;
}

/** The files that this content replaced at a path. */
export function replacedBy(home: string, path: string, blob: string): Replaced[] {
  const end = `.${shortId(blob)}.${Buffer.from(path).toString('base64url')}`;
  return namesIn(home)
    .filter(name => name.endsWith(end))
    .map(name => replacedAt(home, name));
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
