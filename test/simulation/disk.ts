import {constants} from 'node:fs';
import type {Clock} from '../../src/home/disk/clock.ts';
import type {DirectoryEntry, Disk, FileStat, OpenFile, OpenFlags, WatchEvent} from '../../src/home/disk/disk.ts';
import type {Holder, Processes} from '../../src/home/disk/holder.ts';
import type {SimulatedProcess} from './process.ts';
import type {SeededRandom} from './random.ts';
import type {SimulatedTime} from './time.ts';

interface Inode {
  ino: bigint;
  isDirectory: boolean;
  /** Never changed: each write makes a new buffer. */
  data: Buffer;
  /** What a power cut leaves of it for certain; undefined: nothing was ever synced. */
  synced: Buffer | undefined;
  /** So many bytes of `synced` have a place on the disk since: it was not cut to a smaller length. */
  kept: number;
  entries: Map<string, Inode>;
  mode: number;
  links: number;
  modified: number;
  changed: number;
  born: number;
}

/** A change of names: each is a name in a directory, and what has it from then on. */
interface NameChange {
  names: readonly {directory: Inode; name: string; inode: Inode | undefined}[];
  /** When the affected inodes had changed before. */
  changed: ReadonlyMap<Inode, number>;
  isSynced: boolean;
  at: number;
}

interface Watcher {
  owner: SimulatedProcess | undefined;
  directory: Inode;
  onEvent: (name: string | null, event: WatchEvent) => void;
}

export interface DiskFaults {
  /** Nothing more can be written; writes may be cut short before that is said. */
  isFull: boolean;
  /** So many of the next syncs fail. */
  failingSyncs: number;
  /** The share of watch events that are lost. */
  lostEvents: number;
}

/** As coarse as a kernel's clock: two writes within one tick have the same time. */
const TICK_MS = 4;
/** What is older was written to the disk by the kernel itself. */
const WRITEBACK_MS = 40_000;
const ROOT = '/simulated';

/**
 * A disk in memory that knows what was synced. Killed processes lose nothing; a power cut keeps what was synced and, of the rest, what
 * the seed says: all, nothing, or a part. Names in a directory are lost from the newest on.
 */
export class SimulatedDisk {
  readonly faults: DiskFaults = {isFull: false, failingSyncs: 0, lostEvents: 0};
  readonly #random: SeededRandom;
  readonly #time: SimulatedTime;
  readonly #root: Inode;
  /** Names as a power cut would leave them, were all of `#changes` lost. */
  #base = new Map<Inode, Map<string, Inode>>();
  #changes: NameChange[] = [];
  #watchers: Watcher[] = [];
  /** Files that editors have open, by number, how often. */
  readonly #open = new Map<bigint, number>();
  #lastNumber = 100n;

  constructor(random: SeededRandom, time: SimulatedTime) {
    this.#random = random;
    this.#time = time;
    this.#root = this.#make(true);
    this.#root.links = 1;
  }

  /** The disk as a process sees it. Without one: as a person does, whose writes are all synced at once. */
  seenBy(process: SimulatedProcess | undefined, clock: Clock, processes: Processes): Disk {
    const step = () => process?.step();
    const check = () => process?.check();
    const isPerson = process === undefined;
    return {
      root: ROOT,
      clock,
      processes,
      read: path => {
        check();
        return Buffer.from(this.#file(path).data);
      },
      write: (path, data, flag = 'w') => {
        const file = this.#openFile(path, flag, process);
        const bytes = typeof data === 'string' ? Buffer.from(data) : data;
        try {
          for (let at = 0; at < bytes.length; ) at += file.write(bytes, at);
        } finally {
          file.close();
        }
      },
      stat: path => {
        check();
        const inode = this.#find(path);
        return inode && statOf(inode);
      },
      lstat: path => {
        check();
        const inode = this.#find(path);
        return inode && statOf(inode);
      },
      exists: path => {
        check();
        return this.#find(path) !== undefined;
      },
      list: path => {
        check();
        return [...this.#directory(path).entries].map(([name, inode]) => entryOf(name, inode));
      },
      names: path => {
        check();
        return [...this.#directory(path).entries.keys()];
      },
      readLink: path => {
        throw failure('EINVAL', path);
      },
      realPath: path => {
        check();
        if (!this.#find(path)) throw failure('ENOENT', path);
        return `${ROOT}/${path}`;
      },
      open: (path, flags) => this.#openFile(path, flags, process),
      link: (from, to) => {
        step();
        const inode = this.#file(from);
        const {directory, name} = this.#place(to);
        if (directory.entries.has(name)) throw failure('EEXIST', to);
        this.#rename([{directory, name, inode}], isPerson);
      },
      rename: (from, to) => {
        step();
        const [old, place] = [this.#place(from), this.#place(to)];
        const inode = old.directory.entries.get(old.name);
        if (!inode) throw failure('ENOENT', from);
        if (place.directory.entries.get(place.name) === inode) return;
        this.#rename(
          [
            {...place, inode},
            {...old, inode: undefined},
          ],
          isPerson,
        );
      },
      swap: (one, other) => {
        step();
        const [a, b] = [this.#place(one), this.#place(other)];
        const [first, second] = [a.directory.entries.get(a.name), b.directory.entries.get(b.name)];
        if (!first || !second) throw failure('ENOENT', first ? other : one);
        this.#rename(
          [
            {...a, inode: second},
            {...b, inode: first},
          ],
          isPerson,
        );
        return true;
      },
      prepareSwap: async () => true,
      unlink: path => {
        step();
        const place = this.#place(path);
        if (!place.directory.entries.has(place.name)) throw failure('ENOENT', path);
        this.#rename([{...place, inode: undefined}], isPerson);
      },
      unlinkSoon: path => {
        check();
        this.#time.after(1, () => this.#remove(path, isPerson), process);
      },
      remove: path => {
        step();
        this.#remove(path, isPerson);
      },
      makeDirectory: path => {
        check();
        return this.#makeDirectories(path, process);
      },
      chown: () => check(),
      setTimes: (path, _accessed, modified) => {
        step();
        this.#file(path).modified = modified * 1000;
      },
      syncDirectory: path => {
        step();
        return this.#syncSoon(process, () => this.#syncNames(this.#find(path)));
      },
      watch: (directory, onEvent) => {
        check();
        const watcher: Watcher = {owner: process, directory: this.#directory(directory), onEvent};
        this.#watchers.push(watcher);
        return {
          close: () => {
            this.#watchers = this.#watchers.filter(other => other !== watcher);
          },
        };
      },
      isOpenElsewhere: async inode => (this.#open.get(inode) ?? 0) > 0,
    };
  }

  /** Every file, by path. */
  files(): Map<string, Buffer> {
    const found = new Map<string, Buffer>();
    const walk = (directory: Inode, prefix: string) => {
      for (const [name, inode] of directory.entries) {
        if (inode.isDirectory) walk(inode, `${prefix}${name}/`);
        else found.set(`${prefix}${name}`, inode.data);
      }
    };
    walk(this.#root, '');
    return found;
  }

  /** Processes and editors lose what they had open. */
  forgetProcesses(): void {
    this.#watchers = this.#watchers.filter(({owner}) => owner && !owner.isDead);
  }

  /** The machine lost its power. */
  cutPower(): void {
    this.#watchers = [];
    this.#open.clear();
    const inodes = new Set<Inode>();
    for (const directory of this.#directories()) for (const inode of directory.entries.values()) inodes.add(inode);
    for (const {names} of this.#changes) for (const {inode} of names) if (inode) inodes.add(inode);
    this.#loseNames();
    for (const inode of inodes) if (!inode.isDirectory) this.#loseData(inode);
    for (const inode of inodes) inode.links = 0;
    for (const directory of this.#directories()) for (const inode of directory.entries.values()) inode.links++;
    this.#base = new Map();
    this.#changes = [];
  }

  #loseNames(): void {
    const old = this.#time.now - WRITEBACK_MS;
    for (const change of this.#changes) if (change.at < old) change.isSynced = true;
    const cut = new Map<Inode, boolean>();
    const kept = this.#changes.filter(({names, isSynced}) => {
      const isLost = names.some(({directory}) => cut.get(directory) === true);
      if (isSynced) return true;
      if (!isLost && this.#random.chance(0.6)) return true;
      for (const {directory} of names) cut.set(directory, true);
      return false;
    });
    for (const change of this.#changes.filter(each => !kept.includes(each)).reverse())
      for (const [inode, changed] of change.changed) inode.changed = changed;
    for (const [directory, entries] of this.#base) directory.entries = new Map(entries);
    for (const {names} of kept) for (const {directory, name, inode} of names) putName(directory, name, inode);
  }

  #loseData(inode: Inode): void {
    const {data, synced = Buffer.alloc(0)} = inode;
    if (!data.equals(synced) && inode.modified > this.#time.now - WRITEBACK_MS) {
      const how = this.#random.int(4);
      const cut = this.#random.int(data.length + 1);
      if (how === 0) inode.data = synced;
      if (how === 1) inode.data = Buffer.concat([data.subarray(0, cut), synced.subarray(cut)]);
      // The length was written, the content was not.
      const from = Math.min(data.length, Math.max(cut, inode.kept));
      if (how === 2) inode.data = Buffer.concat([data.subarray(0, from), Buffer.alloc(data.length - from)]);
    }
    keep(inode, inode.data);
  }

  *#directories(from = this.#root): Generator<Inode> {
    yield from;
    for (const inode of from.entries.values()) if (inode.isDirectory) yield* this.#directories(inode);
  }

  #make(isDirectory: boolean): Inode {
    const now = this.#tick();
    this.#lastNumber += 1n;
    return {
      ino: this.#lastNumber,
      isDirectory,
      data: Buffer.alloc(0),
      synced: undefined,
      kept: 0,
      entries: new Map(),
      mode: isDirectory ? 0o40755 : 0o100644,
      links: 0,
      modified: now,
      changed: now,
      born: now,
    };
  }

  #tick(): number {
    return Math.floor(this.#time.now / TICK_MS) * TICK_MS;
  }

  #find(path: string): Inode | undefined {
    let at: Inode | undefined = this.#root;
    for (const name of partsOf(path)) at = at?.isDirectory ? at.entries.get(name) : undefined;
    return at;
  }

  #file(path: string): Inode {
    const inode = this.#find(path);
    if (!inode) throw failure('ENOENT', path);
    if (inode.isDirectory) throw failure('EISDIR', path);
    return inode;
  }

  #directory(path: string): Inode {
    const inode = this.#find(path);
    if (!inode) throw failure('ENOENT', path);
    if (!inode.isDirectory) throw failure('ENOTDIR', path);
    return inode;
  }

  #place(path: string): {directory: Inode; name: string} {
    const parts = partsOf(path);
    const name = parts.pop();
    if (name === undefined) throw failure('EINVAL', path);
    if (name.length > 255) throw failure('ENAMETOOLONG', path);
    return {directory: this.#directory(parts.join('/')), name};
  }

  #remove(path: string, isPerson: boolean): void {
    if (!this.#find(path)) return;
    this.#rename([{...this.#place(path), inode: undefined}], isPerson);
  }

  #makeDirectories(path: string, process: SimulatedProcess | undefined): boolean {
    let isMade = false;
    let way = '';
    for (const name of partsOf(path)) {
      const above = this.#directory(way);
      way = way === '' ? name : `${way}/${name}`;
      if (above.entries.has(name)) continue;
      process?.step();
      if (process && this.faults.isFull) throw failure('ENOSPC', path);
      this.#rename([{directory: above, name, inode: this.#make(true)}], process === undefined);
      isMade = true;
    }
    return isMade;
  }

  /** All names at once. */
  #rename(names: NameChange['names'], isSynced: boolean): void {
    const now = this.#tick();
    for (const {directory} of names)
      if (!this.#base.has(directory)) this.#base.set(directory, new Map(directory.entries));
    const before = names.map(({directory, name}) => directory.entries.get(name));
    for (const {directory, name, inode} of names) {
      putName(directory, name, inode);
      directory.modified = now;
      directory.changed = now;
      this.#tell(directory, name);
    }
    for (const inode of before) if (inode) inode.links--;
    for (const {inode} of names) if (inode) inode.links++;
    const affected = [...before, ...names.map(({inode}) => inode)].filter(inode => inode !== undefined);
    const changed = new Map(affected.map(inode => [inode, inode.changed]));
    for (const inode of affected) inode.changed = now;
    this.#changes.push({names, changed, isSynced, at: this.#time.now});
    if (isSynced) for (const {directory} of names) this.#syncWay(directory);
  }

  /** A person's write is on the disk with the names that lead to it. */
  #syncWhole(inode: Inode): void {
    keep(inode, inode.data);
    for (const {names} of [...this.#changes])
      for (const {directory, inode: named} of names) if (named === inode) this.#syncWay(directory);
  }

  /** An editor's fsync takes the folders above with it, as on ext4. */
  #syncWay(directory: Inode): void {
    for (let below: Inode | undefined = directory; below; ) {
      const at: Inode = below;
      this.#syncNames(at);
      below = this.#changes.find(({names, isSynced}) => !isSynced && names.some(({inode}) => inode === at))?.names[0]
        ?.directory;
    }
  }

  #syncNames(directory: Inode | undefined): void {
    for (const change of this.#changes)
      if (change.names.some(each => each.directory === directory)) change.isSynced = true;
    // What is synced, with nothing lost before it, need not be remembered.
    let done = 0;
    while (this.#changes[done]?.isSynced) done++;
    for (const {names} of this.#changes.splice(0, done))
      for (const {directory: of, name, inode} of names) {
        const base = this.#base.get(of);
        if (!base) continue;
        if (inode) base.set(name, inode);
        else base.delete(name);
      }
  }

  /** What was written until now is on the disk some time later. */
  #syncSoon(process: SimulatedProcess | undefined, sync: () => void): Promise<void> {
    const fails = this.faults.failingSyncs > 0;
    if (fails) this.faults.failingSyncs--;
    return new Promise((resolve, reject) => {
      const done = () => {
        if (fails) return reject(failure('EIO', 'fsync'));
        sync();
        resolve();
      };
      this.#time.after(this.#random.chance(0.2) ? this.#random.int(30) : 1, done, process);
    });
  }

  /** Events are lost and late here, so none may say that a file is complete: each tells of a write. */
  #tell(directory: Inode, name: string): void {
    for (const {owner, directory: watched, onEvent} of this.#watchers) {
      if (watched !== directory || this.#random.chance(this.faults.lostEvents)) continue;
      this.#time.after(this.#random.chance(0.1) ? this.#random.int(200) : 1, () => onEvent(name, 'change'), owner);
    }
  }

  #touched(inode: Inode): void {
    inode.modified = this.#tick();
    inode.changed = inode.modified;
    for (const {directory} of this.#watchers)
      for (const [name, other] of directory.entries) if (other === inode) this.#tell(directory, name);
  }

  #openFile(path: string, flags: OpenFlags, process: SimulatedProcess | undefined): OpenFile {
    const bits = typeof flags === 'number' ? flags : LETTERS[flags];
    process?.check();
    let inode = this.#find(path);
    if (inode && bits & constants.O_CREAT && bits & constants.O_EXCL) throw failure('EEXIST', path);
    if (!inode) {
      if (!(bits & constants.O_CREAT)) throw failure('ENOENT', path);
      process?.step();
      if (process && this.faults.isFull) throw failure('ENOSPC', path);
      inode = this.#make(false);
      this.#rename([{...this.#place(path), inode}], process === undefined);
    }
    if (inode.isDirectory && bits & (constants.O_WRONLY | constants.O_RDWR)) throw failure('EISDIR', path);
    if (bits & constants.O_TRUNC && inode.data.length > 0) {
      process?.step();
      inode.data = Buffer.alloc(0);
      inode.kept = 0;
      this.#touched(inode);
    }
    return this.#handle(inode, (bits & constants.O_APPEND) !== 0, process);
  }

  #handle(inode: Inode, appends: boolean, process: SimulatedProcess | undefined): OpenFile {
    let at = 0;
    let isClosed = false;
    if (!process) this.#open.set(inode.ino, (this.#open.get(inode.ino) ?? 0) + 1);
    const put = (bytes: Buffer, position: number | null): number => {
      process?.step();
      const from = position ?? (appends ? inode.data.length : at);
      const end = from + bytes.length;
      let taken = bytes;
      if (process && this.faults.isFull && end > inode.data.length) {
        // Some of it may still fit.
        if (this.#random.chance(0.7) || bytes.length < 2) throw failure('ENOSPC', 'write');
        taken = bytes.subarray(0, 1 + this.#random.int(bytes.length - 1));
      }
      const next = Buffer.allocUnsafe(Math.max(inode.data.length, from + taken.length));
      inode.data.copy(next);
      if (from > inode.data.length) next.fill(0, inode.data.length, from);
      taken.copy(next, from);
      inode.data = next;
      if (!process) this.#syncWhole(inode);
      if (position === null) at = from + taken.length;
      this.#touched(inode);
      return taken.length;
    };
    const sync = () => {
      process?.step();
      const {data} = inode;
      return this.#syncSoon(process, () => {
        keep(inode, data);
      });
    };
    return {
      stat: () => {
        process?.check();
        return statOf(inode);
      },
      read: (buffer, offset, length, position) => {
        process?.check();
        return inode.data.copy(buffer, offset, position, Math.min(inode.data.length, position + length));
      },
      write: (bytes, offset = 0, length = bytes.length - offset, position = null) =>
        put(bytes.subarray(offset, offset + length), position),
      truncate: size => {
        process?.step();
        inode.data = Buffer.concat([inode.data, Buffer.alloc(Math.max(0, size - inode.data.length))], size);
        inode.kept = Math.min(inode.kept, size);
        this.#touched(inode);
      },
      sync,
      syncData: sync,
      chmod: mode => {
        process?.step();
        inode.mode = (inode.mode & ~0o7777) | (mode & 0o7777);
      },
      chown: () => process?.check(),
      close: () => {
        if (isClosed || process) return;
        isClosed = true;
        this.#open.set(inode.ino, Math.max(0, (this.#open.get(inode.ino) ?? 0) - 1));
      },
    };
  }
}

const {O_RDONLY, O_RDWR, O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_TRUNC} = constants;
const LETTERS = {
  r: O_RDONLY,
  'r+': O_RDWR,
  a: O_WRONLY | O_APPEND | O_CREAT,
  w: O_WRONLY | O_CREAT | O_TRUNC,
  wx: O_WRONLY | O_CREAT | O_EXCL,
} as const;

function partsOf(path: string): string[] {
  return path.split('/').filter(part => part !== '' && part !== '.');
}

/** This content survives a power cut. */
function keep(inode: Inode, data: Buffer): void {
  inode.synced = data;
  inode.kept = data.length;
}

function putName(directory: Inode, name: string, inode: Inode | undefined): void {
  if (inode) directory.entries.set(name, inode);
  else directory.entries.delete(name);
}

function statOf(inode: Inode): FileStat {
  const {ino, isDirectory, data, mode, links, modified, changed, born} = inode;
  const [mtime, ctime, birth] = [modified, changed, born].map(ms => BigInt(Math.trunc(ms)));
  return {
    dev: 1n,
    ino,
    mode: BigInt(mode),
    nlink: BigInt(links),
    uid: 1000n,
    gid: 1000n,
    size: BigInt(data.length),
    mtimeMs: mtime as bigint,
    mtimeNs: (mtime as bigint) * 1_000_000n,
    ctimeMs: ctime as bigint,
    ctimeNs: (ctime as bigint) * 1_000_000n,
    birthtimeMs: birth as bigint,
    birthtimeNs: (birth as bigint) * 1_000_000n,
    isFile: () => !isDirectory,
    isDirectory: () => isDirectory,
    isSymbolicLink: () => false,
  };
}

function entryOf(name: string, {isDirectory}: Inode): DirectoryEntry {
  return {name, isFile: () => !isDirectory, isDirectory: () => isDirectory, isSymbolicLink: () => false};
}

/** Without a stack: most are expected, and it would cost more than all else. */
function failure(code: string, path: string): NodeJS.ErrnoException {
  const {stackTraceLimit} = Error;
  Error.stackTraceLimit = 0;
  const error = Object.assign(new Error(`${code}: ${path}`), {code});
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

/** Who lives in this simulation. */
export function processesOf(self: Holder, living: () => Iterable<SimulatedProcess>): Processes {
  const isAlive = (pid: number, began: string) =>
    [...living()].some(({holder, isDead}) => !isDead && holder.pid === pid && (began === '' || holder.began === began));
  return {
    self: () => self,
    isAlive,
    isHolding: ({pid, began, boot}) => boot === self.boot && isAlive(pid, began),
  };
}
