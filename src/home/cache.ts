import {dirname} from 'node:path';
import {crashPoint} from './disk/crash.ts';
import type {Disk, OpenFile} from './disk/disk.ts';
import {temporaryBeside} from './temporary.ts';

/** The smallest allocation unit of file systems. */
const BLOCK = 4096;

/** Read a derived file. Undefined: missing, torn, or of another version. */
export function readCache<T>(disk: Disk, path: string, version: string): T | undefined {
  try {
    const {version: found, value} = JSON.parse(disk.read(path).toString()) as {version: string; value: T};
    return found === version ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `value` is JSON text, so that callers can build a large value in steps. */
export function writeCache(disk: Disk, path: string, version: string, value: string): void {
  writeDerived(disk, path, `{"version":${JSON.stringify(version)},"value":${value}}`);
}

/** Replace a derived file atomically, or throw. Not synced: after a power cut the file is derived again. */
export function writeDerived(disk: Disk, path: string, text: string): void {
  if (path.includes('/')) disk.makeDirectory(dirname(path));
  const temp = temporaryBeside(disk, path);
  try {
    disk.write(temp, text);
    crashPoint('cache-write');
    disk.rename(temp, path);
  } catch (error) {
    disk.remove(temp);
    throw error;
  }
}

/**
 * Like `writeDerived`, but on a full disk overwrite the file in place, within its allocated blocks. A concurrent reader may then find it
 * torn.
 */
export function writeOver(disk: Disk, path: string, text: string): void {
  try {
    writeDerived(disk, path, text);
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
    if (!overwrite(disk, path, Buffer.from(text))) throw error;
  }
}

/** Returns whether the bytes fitted. */
function overwrite(disk: Disk, path: string, bytes: Buffer): boolean {
  let file: OpenFile | undefined;
  try {
    file = disk.open(path, 'r+');
    if (bytes.length > Math.ceil(Number(file.stat().size) / BLOCK) * BLOCK) return false;
    const written = file.write(bytes, 0, bytes.length, 0);
    file.truncate(written);
    return written === bytes.length;
  } catch {
    return false;
  } finally {
    file?.close();
  }
}
