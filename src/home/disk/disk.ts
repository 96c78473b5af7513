import {
  type BigIntStats,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fdatasync,
  fstatSync,
  fsync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  statSync,
  unlink,
  unlinkSync,
  utimesSync,
  watch,
  writeFileSync,
  writeSync,
} from 'node:fs';
import {type Clock, systemClock} from './clock.ts';
import {type Processes, systemProcesses} from './holder.ts';
import {makeFolders} from './make-folders.ts';
import {isOpenElsewhere} from './open-files.ts';
import {loadSwap, swapFiles} from './swap.ts';

export type FileStat = Pick<
  BigIntStats,
  | 'dev'
  | 'ino'
  | 'mode'
  | 'nlink'
  | 'uid'
  | 'gid'
  | 'size'
  | 'mtimeMs'
  | 'mtimeNs'
  | 'ctimeMs'
  | 'ctimeNs'
  | 'birthtimeMs'
  | 'birthtimeNs'
  | 'isFile'
  | 'isDirectory'
  | 'isSymbolicLink'
>;

export interface DirectoryEntry {
  name: string;
  isFile: () => boolean;
  isDirectory: () => boolean;
  isSymbolicLink: () => boolean;
}

/** Flags of node:fs: `constants` or their short names. */
export type OpenFlags = number | 'r' | 'r+' | 'a' | 'w' | 'wx';

/** An open file or directory. */
export interface OpenFile {
  stat: () => FileStat;
  /** Read up to `length` bytes at `position` into `buffer`. Returns how many were read. */
  read: (buffer: Buffer, offset: number, length: number, position: number) => number;
  /** Write at `position`, or at the current position. Returns how many bytes were written, which may be fewer. */
  write: (bytes: Buffer, offset?: number, length?: number, position?: number | null) => number;
  truncate: (size: number) => void;
  /** Resolves when content and metadata are on disk (fsync). */
  sync: () => Promise<void>;
  /** Resolves when content and length are on disk (fdatasync). */
  syncData: () => Promise<void>;
  chmod: (mode: number) => void;
  chown: (uid: number, gid: number) => void;
  close: () => void;
}

/** As in node:fs. `rename`: a name was added or removed. `change`: the file was written. */
export type WatchEvent = 'rename' | 'change';

export interface DirectoryWatch {
  close: () => void;
}

/**
 * The files of a home. Paths are relative to the home, with "/"; '' is the home itself. Errors are thrown as in node:fs, with a `code`.
 * The daemon accesses a home only through this interface, so that the simulator can replace it. Git and the workspaces of agents do not
 * go through it.
 */
export interface Disk {
  /** The absolute path of the home, for messages and other programs. */
  readonly root: string;
  readonly clock: Clock;
  readonly processes: Processes;
  read: (path: string) => Buffer;
  /** Write a whole file. `wx`: throws if it exists. */
  write: (path: string, data: string | Buffer, flag?: 'w' | 'wx') => void;
  /** Follows links. Undefined: no such file. */
  stat: (path: string) => FileStat | undefined;
  /** Does not follow links. */
  lstat: (path: string) => FileStat | undefined;
  /** Must not throw: false if the path cannot be examined. */
  exists: (path: string) => boolean;
  list: (path: string) => DirectoryEntry[];
  names: (path: string) => string[];
  readLink: (path: string) => string;
  /** The absolute path with all links resolved. */
  realPath: (path: string) => string;
  open: (path: string, flags: OpenFlags, mode?: number) => OpenFile;
  link: (from: string, to: string) => void;
  rename: (from: string, to: string) => void;
  /** Swap two files atomically. Throws if one does not exist. False: not supported here; nothing was done. */
  swap: (one: string, other: string) => boolean;
  /** Await this before the first `swap`. */
  prepareSwap: () => Promise<unknown>;
  unlink: (path: string) => void;
  /** Unlink in the background and ignore errors: freeing a file takes long on some file systems. */
  unlinkSoon: (path: string) => void;
  /** Like `unlink`, but a missing file is not an error. */
  remove: (path: string) => void;
  /** Create a directory and its parents, but not the home itself. Returns whether any was created. */
  makeDirectory: (path: string) => boolean;
  chown: (path: string, uid: number, gid: number) => void;
  /** Seconds since 1970. */
  setTimes: (path: string, accessed: number, modified: number) => void;
  /** Resolves when the entries of this directory are on disk. */
  syncDirectory: (path: string) => Promise<void>;
  /** Report changes in this directory. `name` null: unknown. */
  watch: (
    directory: string,
    onEvent: (name: string | null, event: WatchEvent) => void,
    onError: () => void,
  ) => DirectoryWatch;
  /** Whether another process has this file open, as far as the system shows. */
  isOpenElsewhere: (inode: bigint) => Promise<boolean>;
}

/** Disks by root. They have no state. */
const disks = new Map<string, Disk>();

/** The home at this absolute path on this machine. With '' as `root`, paths must be absolute. */
export function nodeDisk(root: string): Disk {
  const known = disks.get(root);
  if (known) return known;
  const disk = makeDisk(root);
  disks.set(root, disk);
  return disk;
}

function makeDisk(root: string): Disk {
  const at = (path: string) => (path === '' ? root : path[0] === '/' ? path : `${root}/${path}`);
  return {
    root,
    clock: systemClock,
    processes: systemProcesses,
    read: path => readFileSync(at(path)),
    write: (path, data, flag = 'w') => writeFileSync(at(path), data, {flag}),
    stat: path => statSync(at(path), STAT),
    lstat: path => lstatSync(at(path), STAT),
    exists: path => existsSync(at(path)),
    list: path => readdirSync(at(path), {withFileTypes: true}),
    names: path => readdirSync(at(path)),
    readLink: path => readlinkSync(at(path)),
    realPath: path => realpathSync.native(at(path)),
    open: (path, flags, mode) => new NodeFile(openSync(at(path), flags, mode)),
    link: (from, to) => linkSync(at(from), at(to)),
    rename: (from, to) => renameSync(at(from), at(to)),
    swap: (one, other) => swapFiles(at(one), at(other)),
    prepareSwap: loadSwap,
    unlink: path => unlinkSync(at(path)),
    unlinkSoon: path => unlink(at(path), () => {}),
    remove: path => removeFile(at(path)),
    makeDirectory: path => {
      // Do not create a home again that was moved or deleted.
      statSync(root);
      return makeFolders(at(path));
    },
    chown: (path, uid, gid) => chownSync(at(path), uid, gid),
    setTimes: (path, accessed, modified) => utimesSync(at(path), accessed, modified),
    syncDirectory: async path => {
      const file = new NodeFile(openSync(at(path), constants.O_RDONLY));
      try {
        await file.sync();
      } finally {
        file.close();
      }
    },
    watch: (directory, onEvent, onError) => {
      const watcher = watch(at(directory), {persistent: false}, (event, name) => onEvent(name, event));
      watcher.on('error', onError);
      return watcher;
    },
    isOpenElsewhere: inode => isOpenElsewhere(root, inode),
  };
}

/** Checks first, because many files are already gone and an exception costs more than a stat. */
function removeFile(path: string): void {
  if (lstatSync(path, {throwIfNoEntry: false}) === undefined) return;
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

const STAT = {bigint: true, throwIfNoEntry: false} as const;

class NodeFile implements OpenFile {
  readonly #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  stat(): FileStat {
    return fstatSync(this.#fd, {bigint: true});
  }

  read(buffer: Buffer, offset: number, length: number, position: number): number {
    return readSync(this.#fd, buffer, offset, length, position);
  }

  write(bytes: Buffer, offset = 0, length = bytes.length - offset, position: number | null = null): number {
    return writeSync(this.#fd, bytes, offset, length, position);
  }

  truncate(size: number): void {
    ftruncateSync(this.#fd, size);
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => fsync(this.#fd, error => (error ? reject(error) : resolve())));
  }

  syncData(): Promise<void> {
    return new Promise((resolve, reject) => fdatasync(this.#fd, error => (error ? reject(error) : resolve())));
  }

  chmod(mode: number): void {
    fchmodSync(this.#fd, mode);
  }

  chown(uid: number, gid: number): void {
    fchownSync(this.#fd, uid, gid);
  }

  close(): void {
    closeSync(this.#fd);
  }
}
