import {closeSync, constants, type Dirent, openSync, readdirSync} from 'node:fs';
import {byDescriptor} from './folder.ts';

const OPEN_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * An open folder whose names are bytes, each as a character (latin1), because not all names are valid text. Entries are
 * reached through the descriptor, whatever is renamed or linked meanwhile.
 */
export interface ByteFolder {
  fd: number;
  /** As bytes, like names. */
  path: string;
}

const bytesOf = (name: string): Buffer => Buffer.from(name, 'latin1');
export const textOfName = (name: string): string => (isAscii(name) ? name : bytesOf(name).toString());
export const nameOfText = (text: string): string => (isAscii(text) ? text : Buffer.from(text).toString('latin1'));

function isAscii(text: string): boolean {
  return !/[^ -~]/.test(text);
}

/** Wrap an open directory; the caller closes it. */
export function byteFolder({fd, path}: {fd: number; path: string}): ByteFolder {
  return {fd, path: nameOfText(path)};
}

/** Path of an entry. Open it with O_NOFOLLOW. */
export function inFolder(folder: ByteFolder, name: string): string | Buffer {
  const path = `${folder.path}/${name}`;
  return isAscii(path) ? path : bytesOf(path);
}

/** Throws system errors; a link gives ELOOP or ENOTDIR. */
export function enterFolder(folder: ByteFolder, name: string): ByteFolder {
  const fd = openSync(inFolder(folder, name), OPEN_FOLDER);
  return {fd, path: byDescriptor ? `/proc/self/fd/${fd}` : `${folder.path}/${name}`};
}

/** Undefined: unreadable or gone. */
export function entriesIn({path}: ByteFolder): Dirent[] | undefined {
  try {
    return readdirSync(bytesOf(path), {withFileTypes: true, encoding: 'latin1'});
  } catch {
    return undefined;
  }
}

/** Throws if the folder is unreadable. Without file types, which is faster. */
export function nameList({path}: ByteFolder): string[] {
  return readdirSync(bytesOf(path), {encoding: 'latin1'});
}

/** Undefined: unreadable or gone. */
export function listNames(folder: ByteFolder): string[] | undefined {
  try {
    return nameList(folder);
  } catch {
    return undefined;
  }
}

export function leaveFolder({fd}: ByteFolder): void {
  closeSync(fd);
}
