import {closeSync, constants, type Dirent, openSync, readdirSync} from 'node:fs';
import {byDescriptor} from './folder.ts';

const OPEN_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * A folder that is open, with names as the bytes they are: each byte a character (latin1), for not all are text. What is
 * in it is reached through its descriptor, whatever is renamed or linked meanwhile.
 */
export interface ByteFolder {
  fd: number;
  /** In the same way. */
  path: string;
}

const bytesOf = (name: string): Buffer => Buffer.from(name, 'latin1');
export const textOfName = (name: string): string => (isAscii(name) ? name : bytesOf(name).toString());
export const nameOfText = (text: string): string => (isAscii(text) ? text : Buffer.from(text).toString('latin1'));

function isAscii(text: string): boolean {
  return !/[^ -~]/.test(text);
}

/** Of an open directory that is the caller's to close. */
export function byteFolder({fd, path}: {fd: number; path: string}): ByteFolder {
  return {fd, path: nameOfText(path)};
}

/** The path by which to reach `name` in it; never followed if opened with O_NOFOLLOW. */
export function inFolder(folder: ByteFolder, name: string): string | Buffer {
  const path = `${folder.path}/${name}`;
  return isAscii(path) ? path : bytesOf(path);
}

/** Throws what the system says; a link is ELOOP or ENOTDIR. */
export function enterFolder(folder: ByteFolder, name: string): ByteFolder {
  const fd = openSync(inFolder(folder, name), OPEN_FOLDER);
  return {fd, path: byDescriptor ? `/proc/self/fd/${fd}` : `${folder.path}/${name}`};
}

/** Undefined: not ours to read, or gone. */
export function entriesIn({path}: ByteFolder): Dirent[] | undefined {
  try {
    return readdirSync(bytesOf(path), {withFileTypes: true, encoding: 'latin1'});
  } catch {
    return undefined;
  }
}

/** The same without their kinds, which is faster. */
export function listNames({path}: ByteFolder): string[] | undefined {
  try {
    return readdirSync(bytesOf(path), {encoding: 'latin1'});
  } catch {
    return undefined;
  }
}

export function leaveFolder({fd}: ByteFolder): void {
  closeSync(fd);
}
