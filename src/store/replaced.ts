import {basename, dirname} from 'node:path';
import type {Disk, FileStat} from './disk.ts';
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
  disk: Disk;
  path: string;
  /** Where the file really is, in the home. */
  target: string;
  /** The file that will take its place, and is at this name until then. */
  temp: string;
  expected: Buffer;
  bytes: Buffer;
  by: Replacer;
}

/** Undefined where the file system has no hard links, or the path is too long for a name. */
export function keepReplaced({disk, path, target, temp, expected, bytes, by}: Replacing): Replaced | undefined {
  const parts = [blobId(expected), idOf(temp), shortId(blobId(bytes)), Buffer.from(path).toString('base64url')];
  const name = parts.join('.');
  if (name.length > 255) return undefined;
  try {
    linkInto(disk, FOLDERS[by], target, name);
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'EXDEV' || code === 'EPERM' || code === 'ENOTSUP' || code === 'EMLINK') return undefined;
    throw error;
  }
  return replacedAt(disk, by, name);
}

function linkInto(disk: Disk, folder: string, target: string, name: string): void {
  try {
    disk.link(target, `${folder}/${name}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    disk.makeDirectory(folder);
    disk.link(target, `${folder}/${name}`);
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

function replacedAt(disk: Disk, by: Replacer, name: string): Replaced {
  const folder = FOLDERS[by];
  const link = `${folder}/${name}`;
  const [base = '', id = '', next = '', encoded = ''] = name.split('.');
  const path = Buffer.from(encoded, 'base64url').toString();
  const found = disk.stat(link);
  /** The file as it was when nothing late was in it. */
  let seen: FileStat | undefined;
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
      const stat = statOf(disk, link);
      if (stat.mtimeNs === seen?.mtimeNs && stat.size === seen.size) return undefined;
      const found = lateIn(disk, link, path, base);
      // A write within the same tick of the clock as the last one would not show.
      if (!found && BigInt(Math.trunc(disk.clock.now())) - stat.mtimeMs > TICK_MS) seen = stat;
      return found;
    },
    after: bytes => {
      const later = [blobId(bytes), id, next, encoded].join('.');
      disk.rename(link, `${folder}/${later}`);
      return replacedAt(disk, by, later);
    },
    kept: () => {
      const bytes = disk.read(link);
      return blobId(bytes) === base ? bytes : beginning(bytes, base);
    },
    // Freeing a file takes long on some file systems. Gone: somebody emptied .agentdir.
    forget: () => disk.unlinkSoon(link),
  };
}

/**
 * All that earlier runs left, oldest first. Where the crash came while the new file was still at its temporary name, nothing was
 * replaced: that is let go at once.
 */
export function leftReplaced(disk: Disk): Replaced[] {
  const all = Object.keys(FOLDERS) as Replacer[];
  const left = all.flatMap(by =>
    namesIn(disk, by).flatMap(name => {
      const replaced = replacedAt(disk, by, name);
      const id = name.split('.')[1] ?? '';
      const nth = Number(id.slice(id.lastIndexOf('-') + 1));
      const temp = `${dirname(replaced.path)}/.agentdir-${id}.tmp`;
      const found = disk.stat(temp);
      if (found === undefined || found.ino === replaced.inode) return [{replaced, nth}];
      if (isAbandoned(disk, basename(temp))) giveBack(disk, temp, replaced.path, replaced.next);
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
function giveBack(disk: Disk, temp: string, target: string, next: string): void {
  const [taken, there] = [temp, target].map(path => (disk.exists(path) ? shortId(blobId(disk.read(path))) : ''));
  if (taken !== next && there === next) disk.rename(temp, target);
}

function namesIn(disk: Disk, by: Replacer): string[] {
  try {
    return disk.names(FOLDERS[by]);
  } catch {
    return [];
  }
}

/** What a command of ours replaced by this content; none if it was written by anybody else. */
export function replacedBy(disk: Disk, path: string, blob: string): Replaced[] {
  const end = `.${shortId(blob)}.${Buffer.from(path).toString('base64url')}`;
  const names = namesIn(disk, 'command').filter(name => name.endsWith(end));
  return names.map(name => replacedAt(disk, 'command', name));
}

/** What tells one temporary file from all others: `.agentdir-ID.tmp`. */
function idOf(temp: string): string {
  return basename(temp, '.tmp').slice('.agentdir-'.length);
}

function lateIn(disk: Disk, link: string, path: string, base: string): Late | undefined {
  const {ino, mtimeMs} = statOf(disk, link);
  const bytes = disk.read(link);
  // Still, or again, the file itself: a crash came before the rename.
  const current = disk.stat(path);
  if (current?.ino === ino) return undefined;
  return blobId(bytes) === base || bytes.length === 0 ? undefined : {path, base, bytes, writtenAt: Number(mtimeMs)};
}

/** Of a link that must be there. */
function statOf(disk: Disk, link: string): FileStat {
  const stat = disk.stat(link);
  if (!stat) throw Object.assign(new Error(`${link} is gone`), {code: 'ENOENT'});
  return stat;
}

/** Enough of git's name for a content to know it again, in a file name that has room for little. */
export function shortId(blob: string): string {
  return blob.slice(0, 16);
}
