import {dirname} from 'node:path';
import {crashPoint} from './disk/crash.ts';
import type {Disk, OpenFile} from './disk/disk.ts';
import {temporaryBeside} from './temporary.ts';

/** The least that file systems give a file at once. */
const BLOCK = 4096;

/** Read a derived file; undefined if it is missing, torn, or of another version. Whatever it held can be derived again. */
export function readCache<T>(disk: Disk, path: string, version: string): T | undefined {
  try {
    const {version: found, value} = JSON.parse(disk.read(path).toString()) as {version: string; value: T};
    return found === version ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `value` is JSON already: whoever has much of it makes it bit by bit. */
export function writeCache(disk: Disk, path: string, version: string, value: string): void {
  writeDerived(disk, path, `{"version":${JSON.stringify(version)},"value":${value}}`);
}

/** Put a derived file in place whole, or leave it as it was and throw. It is not made durable: a crash costs the time to derive it again. */
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
 * The same for a file that must be right even on a full disk: then it is written over, into the room it has. Whoever reads
 * it at that moment may find it torn.
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

/** Whether there was room for it. */
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
