import {hash} from 'node:crypto';
import {existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';

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
}

const FOLDER = '.agentdir/replaced';

export interface Replacing {
  home: string;
  path: string;
  /** Where the file really is. */
  target: string;
  /** The file that will take its place: as long as that is there, nothing was replaced yet. */
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
    mkdirSync(join(home, FOLDER), {recursive: true});
    linkSync(target, join(home, FOLDER, name));
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'EXDEV' || code === 'EPERM' || code === 'ENOTSUP' || code === 'EMLINK') return undefined;
    throw error;
  }
  return replacedAt(home, name);
}

function replacedAt(home: string, name: string): Replaced {
  const link = join(home, FOLDER, name);
  const [base = '', id = '', next = '', encoded = ''] = name.split('.');
  const path = Buffer.from(encoded, 'base64url').toString();
  return {
    path,
    base,
    next,
    inode: statSync(link, {bigint: true, throwIfNoEntry: false})?.ino ?? 0n,
    late: () => lateIn(link, join(home, path), path, base),
    after: bytes => {
      const later = [blobId(bytes), id, next, encoded].join('.');
      renameSync(link, join(home, FOLDER, later));
      return replacedAt(home, later);
    },
    forget: () => rmSync(link, {force: true}),
  };
}

/** All that earlier runs left. Where the crash came before the rename, nothing was replaced: that is let go at once. */
export function leftReplaced(home: string): Replaced[] {
  let names: string[];
  try {
    names = readdirSync(join(home, FOLDER));
  } catch {
    return [];
  }
  return names.flatMap(name => {
    const replaced = replacedAt(home, name);
    const id = name.split('.')[1] ?? '';
    if (!existsSync(join(home, dirname(replaced.path), `.agentdir-${id}.tmp`))) return [replaced];
    replaced.forget();
    return [];
  });
}

/** What tells one temporary file from all others: `.agentdir-ID.tmp`. */
function idOf(temp: string): string {
  return basename(temp, '.tmp').slice('.agentdir-'.length);
}

function lateIn(link: string, file: string, path: string, base: string): Late | undefined {
  const bytes = readFileSync(link);
  // Still, or again, the file itself: a crash came before the rename.
  const current = statSync(file, {bigint: true, throwIfNoEntry: false});
  if (current?.ino === statSync(link, {bigint: true}).ino) return undefined;
  return blobId(bytes) === base || bytes.length === 0 ? undefined : {path, base, bytes};
}

/** Enough of git's name for a content to know it again, in a file name that has room for little. */
export function shortId(blob: string): string {
  return blob.slice(0, 16);
}

/** Git's name for these bytes. */
export function blobId(bytes: Buffer): string {
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`, 'latin1'), bytes]));
}
