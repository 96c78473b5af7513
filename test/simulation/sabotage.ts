import type {Disk, OpenFile} from '../../src/home/disk/disk.ts';
import type {HomeJournal} from '../../src/home/home-git.ts';
import type {Sabotage} from './simulation.ts';

/** Things broken on purpose, by name: a simulation must find each of them. */
export const sabotages: Readonly<Record<string, Sabotage>> = {
  /** No fsync does anything. */
  'no sync': {disk: disk => withFiles(disk, file => ({...file, sync: nothing, syncData: nothing}))},
  /** The version log is never written. */
  'no write-ahead': {
    disk: disk => ({
      ...disk,
      open: (path, flags, mode) => {
        const file = disk.open(path, flags, mode);
        return path.startsWith('.agentdir/versions/') ? {...handle(file), write: bytes => bytes.length} : file;
      },
    }),
  },
  /** What an editor wrote into a file that was just replaced is not kept. */
  'no link to replaced files': {
    disk: disk => ({
      ...disk,
      link: (from, to) => {
        if (!to.startsWith('.agentdir/replaced/')) return disk.link(from, to);
        throw Object.assign(new Error('no links here'), {code: 'EPERM'});
      },
    }),
  },
  /** A save takes whatever is there with it. */
  'rename instead of swap': {disk: disk => ({...disk, swap: () => false})},
  /** Marks that inboxes were read are forgotten. */
  'cursors are lost': {
    disk: disk => ({
      ...disk,
      rename: (from, to) => (to.startsWith('state/inbox/') ? disk.remove(from) : disk.rename(from, to)),
    }),
  },
  /** Git gets versions in another order than they were recorded. */
  'publish out of order': {journal: outOfOrder},
};

const nothing = async () => {};

/** The methods of a file, which may be those of a class. */
function handle(file: OpenFile): OpenFile {
  return {
    stat: () => file.stat(),
    read: (...args) => file.read(...args),
    write: (...args) => file.write(...args),
    truncate: size => file.truncate(size),
    sync: () => file.sync(),
    syncData: () => file.syncData(),
    chmod: mode => file.chmod(mode),
    chown: (uid, gid) => file.chown(uid, gid),
    close: () => file.close(),
  };
}

function withFiles(disk: Disk, change: (file: OpenFile) => OpenFile): Disk {
  return {
    ...disk,
    open: (path, flags, mode) => change(handle(disk.open(path, flags, mode))),
    syncDirectory: nothing,
  };
}

function outOfOrder(journal: HomeJournal, later: (ms: number, work: () => void) => void): HomeJournal {
  let count = 0;
  return new Proxy(journal, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (key !== 'add') return typeof value === 'function' ? value.bind(target) : value;
      return (entry: Parameters<HomeJournal['add']>[0]) =>
        ++count % 3 > 0
          ? target.add(entry)
          : new Promise((resolve, reject) => later(400, () => target.add(entry).then(resolve, reject)));
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  });
}
