import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import {dirname} from 'node:path';
import {crashPoint} from './crash.ts';
import {temporaryBeside} from './temporary.ts';

/** The least that file systems give a file at once. */
const BLOCK = 4096;

/** Read a derived file; undefined if it is missing, torn, or of another version. Whatever it held can be derived again. */
export function readCache<T>(path: string, version: string): T | undefined {
  try {
    const {version: found, value} = JSON.parse(readFileSync(path, 'utf8')) as {version: string; value: T};
    return found === version ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `value` is JSON already: whoever has much of it makes it bit by bit. */
export function writeCache(path: string, version: string, value: string): void {
  writeDerived(path, `{"version":${JSON.stringify(version)},"value":${value}}`);
}

/** Put a derived file in place whole, or leave it as it was and throw. It is not made durable: a crash costs the time to derive it again. */
export function writeDerived(path: string, text: string): void {
  makeFolder(dirname(path));
  const temp = temporaryBeside(path);
  try {
    writeFileSync(temp, text);
    crashPoint('cache-write');
    renameSync(temp, path);
  } catch (error) {
    rmSync(temp, {force: true});
    throw error;
  }
}

/** One folder, not those above it: a home that was moved or deleted is not made again. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * The same for a file that must be right even on a full disk: then it is written over, into the room it has. Whoever reads
 * it at that moment may find it torn.
 */
export function writeOver(path: string, text: string): void {
  try {
    writeDerived(path, text);
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
    if (!overwrite(path, Buffer.from(text))) throw error;
  }
}

/** Whether there was room for it. */
function overwrite(path: string, bytes: Buffer): boolean {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r+');
    if (bytes.length > Math.ceil(fstatSync(fd).size / BLOCK) * BLOCK) return false;
    const written = writeSync(fd, bytes, 0, bytes.length, 0);
    ftruncateSync(fd, written);
    return written === bytes.length;
  } catch {
    return false;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
