import {basename, dirname} from 'node:path';
import type {Disk, FileStat} from './disk/disk.ts';
import {blobId} from './git/blob-id.ts';
import {isAbandoned} from './temporary.ts';

/**
 * The file that a save replaced, kept by a hard link. An editor that had it open may still write into it, not into the new file. Such
 * late writes are found here, in this run or after a crash, and merged.
 */
export interface ReplacedFile {
  /** The path in the home. */
  path: string;
  /** The blob id of its content when it was replaced, and the short blob id of the new content. */
  base: string;
  next: string;
  inode: bigint;
  /** Bytes that an editor wrote into the replaced file. Throws if the link is gone. */
  lateWrite: () => LateWrite | undefined;
  /** Call when these bytes are merged: only later changes are late writes from then on. */
  acknowledge: (bytes: Buffer) => ReplacedFile;
  forget: () => void;
}

/** Bytes that an editor wrote into a file after it was replaced. */
export interface LateWrite {
  path: string;
  /** The blob id of the file's content when it was replaced. */
  base: string;
  bytes: Buffer;
  /** Milliseconds since 1970. */
  writtenAt: number;
}

/** Longer than a tick of any file system's clock. */
const TICK_MS = 50n;

/** Up to this size, removing a file synchronously is faster than in another thread. */
const SMALL = 256n * 1024n;

/** Links to files that the daemon or a command replaced. */
const FOLDER = '.agentdir/replaced';

export interface FileReplacement {
  disk: Disk;
  path: string;
  /** The file to be replaced. For a move, its old path. */
  target: string;
  /** The temporary name of the new file. */
  temp: string;
  expected: Buffer;
  bytes: Buffer;
}

/** Keep the old file by a hard link. Undefined: the file system has no hard links, or the path is too long for a file name. */
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
  /** The stat of the file when it last had no late write. */
  let unwritten: FileStat | undefined;
  return {
    path,
    base,
    next,
    inode: found?.ino ?? 0n,
    lateWrite: () => {
      const stat = statOf(disk, link);
      if (stat.mtimeNs === unwritten?.mtimeNs && stat.size === unwritten.size) return undefined;
      const found = lateIn(disk, link, path, base);
      // A second write within the same clock tick would not change the stat.
      if (!found && BigInt(Math.trunc(disk.clock.now())) - stat.mtimeMs > TICK_MS) unwritten = stat;
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
        // The next start tries again.
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
      restoreEditorsFile(disk, temp, replaced.path, replaced.next);
    replaced.forget();
    return [];
  });
}

/** If a save was killed after it displaced an editor's newer file and before it put that file back, put it back now. */
function restoreEditorsFile(disk: Disk, temp: string, target: string, next: string): void {
  const [displaced, current] = [temp, target].map(path => (disk.exists(path) ? shortId(blobId(disk.read(path))) : ''));
  if (displaced !== next && current === next) disk.rename(temp, target);
}

function namesIn(disk: Disk): string[] {
  try {
    return disk.names(FOLDER);
  } catch {
    return [];
  }
}

/** The content of a replaced version, if its file is still linked and has no late write. */
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

/** The ID in `.agentdir-ID.tmp`, which is unique to each temporary file. */
function idOf(temp: string): string {
  return basename(temp, '.tmp').slice('.agentdir-'.length);
}

function lateIn(disk: Disk, link: string, path: string, base: string): LateWrite | undefined {
  const {ino, mtimeMs} = statOf(disk, link);
  const bytes = disk.read(link);
  // A crash before the rename: this is still the file itself.
  const current = disk.stat(path);
  if (current?.ino === ino) return undefined;
  return blobId(bytes) === base || bytes.length === 0 ? undefined : {path, base, bytes, writtenAt: Number(mtimeMs)};
}

function statOf(disk: Disk, link: string): FileStat {
  const stat = disk.stat(link);
  if (!stat) throw Object.assign(new Error(`${link} is gone`), {code: 'ENOENT'});
  return stat;
}

/** The beginning of a blob id: enough to recognize the content, short enough for a file name. */
export function shortId(blob: string): string {
  return blob.slice(0, 16);
}
