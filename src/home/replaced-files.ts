import {basename, dirname} from 'node:path';
import type {Disk, FileStat} from './disk/disk.ts';
import {blobId} from './git/blob-id.ts';
import {isAbandoned} from './temporary.ts';

/**
 * The file that a save replaced, kept by a hard link. An editor that had it open writes into this one, not into the new
 * one: what it wrote is found here, in this run or after a crash, and merged.
 */
export interface ReplacedFile {
  /** Of the file in the home. */
  path: string;
  /** Git's name for what it held when it was compared, and the beginning of that for what took its place. */
  base: string;
  next: string;
  inode: bigint;
  /** The bytes an editor wrote into it since. Undefined: none. */
  lateWrite: () => LateWrite | undefined;
  /** Call when these bytes are merged: only what is written after them is a late write. */
  acknowledge: (bytes: Buffer) => ReplacedFile;
  forget: () => void;
}

/** Bytes that an editor wrote into a file after it was replaced. */
export interface LateWrite {
  path: string;
  /** Git's name for what the file held when it was compared. */
  base: string;
  bytes: Buffer;
  /** Milliseconds since 1970. */
  writtenAt: number;
}

/** Longer than any file system's clock stands still. */
const TICK_MS = 50n;

/** To remove a file of this size takes less time than to have another thread do it. */
const SMALL = 256n * 1024n;

/** Links to files that the daemon or a command replaced. */
const FOLDER = '.agentdir/replaced';

export interface FileReplacement {
  disk: Disk;
  path: string;
  /** Where the file really is, in the home. */
  target: string;
  /** The file that will take its place, and is at this name until then. */
  temp: string;
  expected: Buffer;
  bytes: Buffer;
}

/** Undefined where the file system has no hard links, or the path is too long for a name. */
export function linkReplaced({disk, path, target, temp, expected, bytes}: FileReplacement): ReplacedFile | undefined {
  const parts = [blobId(expected), idOf(temp), shortId(blobId(bytes)), Buffer.from(path).toString('base64url')];
  const name = parts.join('.');
  if (name.length > 255) return undefined;
  try {
    linkInto(disk, target, name);
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'EXDEV' || code === 'EPERM' || code === 'ENOTSUP' || code === 'EMLINK') return undefined;
    throw error;
  }
  return replacedAt(disk, name);
}

function linkInto(disk: Disk, target: string, name: string): void {
  try {
    disk.link(target, `${FOLDER}/${name}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    disk.makeDirectory(FOLDER);
    disk.link(target, `${FOLDER}/${name}`);
  }
}

function replacedAt(disk: Disk, name: string): ReplacedFile {
  const link = `${FOLDER}/${name}`;
  const [base = '', id = '', next = '', encoded = ''] = name.split('.');
  const path = Buffer.from(encoded, 'base64url').toString();
  const found = disk.stat(link);
  /** The file as it was when nothing late was in it. */
  let seen: FileStat | undefined;
  return {
    path,
    base,
    next,
    inode: found?.ino ?? 0n,
    lateWrite: () => {
      const stat = statOf(disk, link);
      if (stat.mtimeNs === seen?.mtimeNs && stat.size === seen.size) return undefined;
      const found = lateIn(disk, link, path, base);
      // A write within the same tick of the clock as the last one would not show.
      if (!found && BigInt(Math.trunc(disk.clock.now())) - stat.mtimeMs > TICK_MS) seen = stat;
      return found;
    },
    acknowledge: bytes => {
      const later = [blobId(bytes), id, next, encoded].join('.');
      disk.rename(link, `${FOLDER}/${later}`);
      return replacedAt(disk, later);
    },
    forget: () => {
      if (!found || found.size > SMALL) return disk.unlinkSoon(link);
      try {
        disk.remove(link);
      } catch {
        // Not ours to remove any more: the next start tries again.
      }
    },
  };
}

/**
 * The replaced files that earlier runs left. If the crash came while the new file still had its temporary name, nothing was replaced,
 * and the link is removed. `isDamaged`: whether a power cut left these bytes at this path.
 */
export function listReplaced(disk: Disk, isDamaged: (path: string, bytes: Buffer) => boolean): ReplacedFile[] {
  return namesIn(disk).flatMap(name => {
    const replaced = replacedAt(disk, name);
    const id = name.split('.')[1] ?? '';
    const temp = `${dirname(replaced.path)}/.agentdir-${id}.tmp`;
    const found = disk.stat(temp);
    if (found === undefined || found.ino === replaced.inode) return [replaced];
    if (isAbandoned(disk, basename(temp)) && !isDamaged(replaced.path, disk.read(temp)))
      giveBack(disk, temp, replaced.path, replaced.next);
    replaced.forget();
    return [];
  });
}

/** What is there is not what was to take its place: an editor's file, which came at the last moment and was to go back. */
function giveBack(disk: Disk, temp: string, target: string, next: string): void {
  const [taken, there] = [temp, target].map(path => (disk.exists(path) ? shortId(blobId(disk.read(path))) : ''));
  if (taken !== next && there === next) disk.rename(temp, target);
}

function namesIn(disk: Disk): string[] {
  try {
    return disk.names(FOLDER);
  } catch {
    return [];
  }
}

/** The content of a version that was replaced at a path, as long as its file is linked and nobody wrote into it. */
export function replacedContent(disk: Disk, path: string, base: string): Buffer | undefined {
  const end = `.${Buffer.from(path).toString('base64url')}`;
  const name = namesIn(disk).find(each => each.startsWith(`${base}.`) && each.endsWith(end));
  const bytes = name === undefined ? undefined : disk.read(`${FOLDER}/${name}`);
  return bytes && blobId(bytes) === base ? bytes : undefined;
}

/** The files that this content replaced at a path. */
export function replacedBy(disk: Disk, path: string, blob: string): ReplacedFile[] {
  const end = `.${shortId(blob)}.${Buffer.from(path).toString('base64url')}`;
  return namesIn(disk)
    .filter(name => name.endsWith(end))
    .map(name => replacedAt(disk, name));
}

/** What tells one temporary file from all others: `.agentdir-ID.tmp`. */
function idOf(temp: string): string {
  return basename(temp, '.tmp').slice('.agentdir-'.length);
}

function lateIn(disk: Disk, link: string, path: string, base: string): LateWrite | undefined {
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

/** The beginning of a blob id: enough to recognize the content, short enough for a file name. */
export function shortId(blob: string): string {
  return blob.slice(0, 16);
}
