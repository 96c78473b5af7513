import {
  type BigIntStats,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
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
  writevSync,
} from 'node:fs';
import {type Clock, systemClock} from './clock.ts';
import {type Processes, systemProcesses} from './holder.ts';
import {isOpenElsewhere} from './open-files.ts';
import {loadSwap, swapFiles} from './swap.ts';

/** What is known of a file without reading it. */
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

/** A name in a directory, and what has that name. */
export interface DirectoryEntry {
  name: string;
  isFile: () => boolean;
  isDirectory: () => boolean;
  isSymbolicLink: () => boolean;
}

/** How a file is opened: numbers of `constants` in node:fs, or the letters that Node has for some of them. */
export type OpenFlags = number | 'r' | 'r+' | 'a' | 'w' | 'wx';

/** A file or a directory that is open. */
export interface OpenFile {
  stat: () => FileStat;
  /** Read up to `length` bytes at `position` into `buffer`; how many there were. */
  read: (buffer: Buffer, offset: number, length: number, position: number) => number;
  /** Write at `position`, else at the end of what was written; how many bytes were taken, which may be fewer. */
  write: (bytes: Buffer, offset?: number, length?: number, position?: number | null) => number;
  /** Write all of these, one after the other, at `position`; how many bytes were taken. */
  writeParts: (parts: readonly Buffer[], position: number) => number;
  truncate: (size: number) => void;
  /** Resolves when content and length are on the disk (fsync); rejects with what the system says. */
  sync: () => Promise<void>;
  /** The same without times and other metadata (fdatasync). */
  syncData: () => Promise<void>;
  /** The same, at once. */
  syncNow: () => void;
  chmod: (mode: number) => void;
  chown: (uid: number, gid: number) => void;
  close: () => void;
}

/** As Node has it: a name came or went, or what it names was written to. */
export type WatchEvent = 'rename' | 'change';

export interface DirectoryWatch {
  close: () => void;
}

/**
 * The files of a home. Paths are relative to it, with "/"; '' is the home itself. What fails throws as node:fs does, with a `code`.
 * Everything the daemon does to a home goes through this, so that the simulator can put a disk of its own in its place; git and the
 * workspaces of agents are not reached by it.
 */
export interface Disk {
  /** Where the home is: for messages, and for other programs. */
  readonly root: string;
  /** The clock of whoever uses the disk. */
  readonly clock: Clock;
  /** Who uses it, and whether others that did still live. */
  readonly processes: Processes;
  read: (path: string) => Buffer;
  /** A whole file, made if there is none. `wx`: throws if there is one. */
  write: (path: string, data: string | Buffer, flag?: 'w' | 'wx') => void;
  /** Of what a link leads to. Undefined: nothing is there. */
  stat: (path: string) => FileStat | undefined;
  /** Of the link itself. */
  lstat: (path: string) => FileStat | undefined;
  /** Never throws: what cannot be seen is not there. */
  exists: (path: string) => boolean;
  list: (path: string) => DirectoryEntry[];
  names: (path: string) => string[];
  readLink: (path: string) => string;
  /** Absolute, every link resolved. */
  realPath: (path: string) => string;
  open: (path: string, flags: OpenFlags, mode?: number) => OpenFile;
  link: (from: string, to: string) => void;
  rename: (from: string, to: string) => void;
  /** Two names change places in one step; throws where one is not there. False: not possible here, and nothing was done. */
  swap: (one: string, other: string) => boolean;
  /** To be awaited before the first `swap`. */
  prepareSwap: () => Promise<unknown>;
  unlink: (path: string) => void;
  /** As `unlink`, some time soon, whatever comes of it: to free a file takes long on some file systems. */
  unlinkSoon: (path: string) => void;
  /** As `unlink`, but a file that is not there is no error. */
  remove: (path: string) => void;
  /** With those above it, but not the home itself. True: something was made. */
  makeDirectory: (path: string) => boolean;
  chown: (path: string, uid: number, gid: number) => void;
  /** Seconds since 1970. */
  setTimes: (path: string, accessed: number, modified: number) => void;
  /** Resolves when the names in this directory are on the disk. */
  syncDirectory: (path: string) => Promise<void>;
  /** Names that change in this directory; null where the system does not say which. */
  watch: (
    directory: string,
    onEvent: (name: string | null, event: WatchEvent) => void,
    onError: () => void,
  ) => DirectoryWatch;
  /** Whether a process other than this one has this file open, as far as the system tells. */
  isOpenElsewhere: (inode: bigint) => Promise<boolean>;
}

/** One for each home: they hold no state. */
const disks = new Map<string, Disk>();

/** The home at this absolute path, on the file system of this machine. With '' the paths are absolute themselves. */
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
      // A home that was moved or deleted is not made again.
      statSync(root);
      return mkdirSync(at(path), {recursive: true}) !== undefined;
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

/** Many are gone already, and to be told so by an exception takes longer than to look. */
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

  writeParts(parts: readonly Buffer[], position: number): number {
    return writevSync(this.#fd, parts, position);
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

  syncNow(): void {
    fdatasyncSync(this.#fd);
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
