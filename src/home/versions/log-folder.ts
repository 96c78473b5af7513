import {crashPoint} from '../disk/crash.ts';
import type {Disk} from '../disk/disk.ts';
import {durable, syncDirectory} from '../disk/durable.ts';
import type {LogFile, LogStorage} from './version-log.ts';

const FOLDER = '.agentdir/versions';

/** Whether the home has a version log. False also after somebody emptied `.agentdir/`. */
export function hasVersionLog(disk: Disk): boolean {
  return disk.exists(FOLDER);
}

/** Stores the segments of the version log in `.agentdir/versions/`. */
export function logFolder(disk: Disk): LogStorage {
  return {
    prepare: () => {
      try {
        disk.makeDirectory(FOLDER);
      } catch {
        // The disk is full; the first append reports it.
      }
    },
    list: () => {
      try {
        return disk.names(FOLDER);
      } catch {
        return [];
      }
    },
    read: (name, length) =>
      length === undefined ? disk.read(`${FOLDER}/${name}`) : readStart(disk, `${FOLDER}/${name}`, length),
    create: name => {
      disk.makeDirectory(FOLDER);
      return openSegment(disk, name);
    },
    remove: name => disk.unlink(`${FOLDER}/${name}`),
  };
}

function openSegment(disk: Disk, name: string): LogFile {
  const file = disk.open(`${FOLDER}/${name}`, 'wx', 0o600);
  let isListed = false;
  return {
    write: (bytes, at) => {
      for (let done = 0; done < bytes.length; ) done += file.write(bytes, done, bytes.length - done, at + done);
      crashPoint('version-append');
    },
    sync: async () => {
      await durable(file.syncData());
      if (!isListed) {
        await syncOthers(disk, name);
        // The folders may be new, too.
        for (const folder of [FOLDER, '.agentdir', '']) await syncDirectory(disk, folder);
      }
      isListed = true;
      crashPoint('version-sync');
    },
    truncate: length => file.truncate(length),
    close: () => file.close(),
  };
}

/** Sync what a killed process may have left unsynced: later records build on these. Costs next to nothing for a synced file. */
async function syncOthers(disk: Disk, name: string): Promise<void> {
  for (const other of disk.names(FOLDER)) {
    // The log may have dropped it meanwhile.
    if (other === name || !disk.exists(`${FOLDER}/${other}`)) continue;
    const file = disk.open(`${FOLDER}/${other}`, 'r');
    try {
      await durable(file.syncData());
    } finally {
      file.close();
    }
  }
}

function readStart(disk: Disk, path: string, length: number): Buffer {
  const file = disk.open(path, 'r');
  try {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, file.read(buffer, 0, length, 0));
  } finally {
    file.close();
  }
}
