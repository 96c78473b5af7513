import {
  closeSync,
  existsSync,
  fdatasync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import {join} from 'node:path';
import {crashPoint} from '../crash.ts';
import {durable, syncDirectory} from '../durable.ts';
import type {LogFile, LogStorage} from './version-log.ts';

const FOLDER = '.agentdir/versions';

/** False: no daemon with a version log has served this home, or somebody emptied `.agentdir/`. */
export function hasVersionLog(home: string): boolean {
  return existsSync(join(home, FOLDER));
}

/** The segments of a home's version log. */
export function logFolder(home: string): LogStorage {
  const folder = join(home, FOLDER);
  return {
    prepare: () => {
      try {
        mkdirSync(folder, {recursive: true});
      } catch {
        // A full disk.
      }
    },
    list: () => {
      try {
        return readdirSync(folder);
      } catch {
        return [];
      }
    },
    read: (name, length) =>
      length === undefined ? readFileSync(join(folder, name)) : readStart(join(folder, name), length),
    create: name => {
      mkdirSync(folder, {recursive: true});
      return openSegment(folder, name);
    },
    remove: name => unlinkSync(join(folder, name)),
  };
}

function openSegment(folder: string, name: string): LogFile {
  const fd = openSync(join(folder, name), 'wx', 0o600);
  let isListed = false;
  return {
    write: (bytes, at) => {
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, at + done);
      crashPoint('version-append');
    },
    sync: async () => {
      await durable(fd, fdatasync);
      if (!isListed) await syncDirectory(folder);
      isListed = true;
      crashPoint('version-sync');
    },
    truncate: length => ftruncateSync(fd, length),
    close: () => closeSync(fd),
  };
}

function readStart(path: string, length: number): Buffer {
  const fd = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readSync(fd, buffer, 0, length, 0));
  } finally {
    closeSync(fd);
  }
}
