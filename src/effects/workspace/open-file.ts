import {closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, type Stats} from 'node:fs';
import {nearest} from '../../formats/common/diagnostic.ts';
import {errorCode, failure, isFailure, systemFailure} from '../tool/failure.ts';
import {pace} from '../tool/pace.ts';
import type {ToolContext, ToolFailure} from '../tool/tool.ts';
import {closeFolder, confirm, entryOf, type Folder, openFolder, refusedEntry} from './folder.ts';
import type {ToolPath} from './place.ts';

/** Opening must not wait (a pipe), nor follow a link that was put there after we looked. */
const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

const CHUNK = 1024 * 1024;

/** A file that was open, read at most to `most` bytes. */
export interface FileBytes {
  bytes: Buffer;
  stat: Stats;
}

/**
 * A regular file in `folder`, opened for reading, whatever other names it has: package managers link whole trees, the
 * daemon links what it replaces, and only who can read the other name can make this one.
 * Throws what the system says; undefined if it is no regular file.
 */
export function openIn(folder: Folder, name: string): {fd: number; stat: Stats} | undefined {
  const fd = openSync(entryOf(folder, name), OPEN_FILE);
  try {
    const stat = fstatSync(fd);
    confirm(folder, name, fd);
    if (stat.isFile()) return {fd, stat};
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  closeSync(fd);
  return undefined;
}

/** How a file begins; `more` if that may not be all, to be read and closed by the caller. */
export interface FileBeginning {
  bytes: Buffer;
  more?: {fd: number; size: number};
}

/**
 * A regular file, read into `into` as far as it fits. Undefined if it is no regular file. To be called with what a
 * listing says is one: should it have become something else, then reading at a position fails (pipe, socket, terminal)
 * or fills the buffer (device), and then it is looked at. This saves a look at each file, a tenth of a search.
 */
export function beginRegular(folder: Folder, name: string, into: Buffer): FileBeginning | undefined {
  const fd = openSync(entryOf(folder, name), OPEN_FILE);
  let open = false;
  try {
    confirm(folder, name, fd);
    const bytes = into.subarray(0, readSync(fd, into, 0, into.length, 0));
    if (bytes.length < into.length) return {bytes};
    const stat = fstatSync(fd);
    if (!stat.isFile()) return undefined;
    open = true;
    return {bytes, more: {fd, size: stat.size}};
  } finally {
    if (!open) closeSync(fd);
  }
}

/** The file of a place, open: to be closed by the caller. Or why not. */
export function openPlace(context: ToolContext, place: ToolPath): {fd: number; stat: Stats} | ToolFailure {
  const name = place.parts.at(-1);
  if (name === undefined) return failure('FAILED', `${place.path} is a directory`);
  const folder = openFolder(context, place, place.parts.slice(0, -1));
  if (isFailure(folder)) return folder;
  try {
    // A device may do something when it is opened, so it is looked at first.
    const refused = refusedEntry(folder, name, place.path, 'file');
    if (refused) return refused;
    return openIn(folder, name) ?? failure('DENIED', `${place.path} is not a regular file`);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return missing(folder, name, place.path);
    return refusedEntry(folder, name, place.path, 'file') ?? systemFailure(error, place.path);
  } finally {
    closeFolder(folder);
  }
}

/** The whole file of a place, or why not. */
export async function readPlace(context: ToolContext, place: ToolPath, most: number): Promise<FileBytes | ToolFailure> {
  const opened = openPlace(context, place);
  if (isFailure(opened)) return opened;
  try {
    const bytes = await readAll(opened.fd, opened.stat.size, most, context.signal);
    if (!bytes)
      return failure('FAILED', `${place.path} is larger than ${most / 1024 / 1024} MB; grep finds lines in it`);
    return {bytes, stat: opened.stat};
  } catch (error) {
    if (context.signal.aborted) throw error;
    return systemFailure(error, place.path);
  } finally {
    closeSync(opened.fd);
  }
}

/** An open file to its end. Undefined if there are more than `most` bytes, whatever the size was said to be. */
export async function readAll(
  fd: number,
  size: number,
  most: number,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (size > most) return undefined;
  const breathe = pace(signal);
  let bytes = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const read = readSync(fd, bytes, length, Math.min(CHUNK, bytes.length - length), null);
    if (read === 0) return bytes.subarray(0, length);
    length += read;
    if (length > most) return undefined;
    // It grew while it was read.
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(length * 2 + 4096, most + 1));
    await breathe();
  }
}

function missing(folder: Folder, name: string, shown: string): ToolFailure {
  let near: string | undefined;
  try {
    near = nearest(name, readdirSync(folder.path).slice(0, 1000));
  } catch {
    // Then without a suggestion.
  }
  const hint = near ? `; did you mean ${shown.slice(0, -name.length)}${near}?` : '';
  return failure('FAILED', `${shown} does not exist${hint}`);
}

/** What `name` is in `folder` now; undefined if nothing. */
export function lookAt(folder: Folder, name: string): Stats | undefined {
  return lstatSync(entryOf(folder, name), {throwIfNoEntry: false});
}

/** The same by a path as it is written, on which there may be a link by now; undefined too where nobody may look. */
export function glance(path: string): Stats | undefined {
  try {
    return lstatSync(path, {throwIfNoEntry: false});
  } catch {
    return undefined;
  }
}

/** Text has no NUL in its first part. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, 8192).includes(0);
}

/** What is at a place, if it is a file or a directory. */
export function fileTypeAt(context: ToolContext, place: ToolPath): 'file' | 'directory' | ToolFailure {
  const name = place.parts.at(-1);
  if (name === undefined) return 'directory';
  const folder = openFolder(context, place, place.parts.slice(0, -1));
  if (isFailure(folder)) return folder;
  try {
    const stat = lookAt(folder, name);
    if (!stat) return missing(folder, name, place.path);
    if (stat.isDirectory()) return 'directory';
    return refusedEntry(folder, name, place.path, 'file') ?? 'file';
  } catch (error) {
    return systemFailure(error, place.path);
  } finally {
    closeFolder(folder);
  }
}
