import {closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, type Stats} from 'node:fs';
import {nearest} from '../../formats/common/diagnostic.ts';
import {errorCode, failure, isFailure, systemFailure} from '../tool/failure.ts';
import {pace} from '../tool/pace.ts';
import type {ToolContext, ToolFailure} from '../tool/tool.ts';
import {closeFolder, confirm, entryOf, type Folder, openFolder, refusedEntry} from './folder.ts';
import type {ToolPath} from './place.ts';

/** Must not block on a pipe, nor follow a link created in between. */
const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

const CHUNK = 1024 * 1024;

export interface FileBytes {
  bytes: Buffer;
  stat: Stats;
}

/**
 * Open a regular file in `folder` for reading. Further hard links are fine: package managers and the daemon itself link
 * files, and creating a link requires access to the file. Throws system errors; undefined if it is not a regular file.
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

/** Start of a file; `more` if the file may be longer, to be read and closed by the caller. */
export interface FileBeginning {
  bytes: Buffer;
  more?: {fd: number; size: number};
}

/**
 * Read a regular file into `into`, as far as it fits. Undefined if it is not a regular file. Call it for entries that a
 * listing reports as files. If the type changed since, a positioned read fails (pipe, socket, terminal) or fills the
 * buffer (device), and only then is fstat needed. This saves a tenth of a search.
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

/** Open the file of a place; the caller closes it. */
export function openPlace(context: ToolContext, place: ToolPath): {fd: number; stat: Stats} | ToolFailure {
  const name = place.parts.at(-1);
  if (name === undefined) return failure('FAILED', `${place.path} is a directory`);
  const folder = openFolder(context, place, place.parts.slice(0, -1));
  if (isFailure(folder)) return folder;
  try {
    // Check first: opening a device may have side effects.
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

/** Read an open file to its end. Undefined if it has more than `most` bytes, whatever `size` says. */
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
    // The file grew while it was read.
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(length * 2 + 4096, most + 1));
    await breathe();
  }
}

function missing(folder: Folder, name: string, shown: string): ToolFailure {
  let near: string | undefined;
  try {
    near = nearest(name, readdirSync(folder.path).slice(0, 1000));
  } catch {
    // No suggestion then.
  }
  const hint = near ? `; did you mean ${shown.slice(0, -name.length)}${near}?` : '';
  return failure('FAILED', `${shown} does not exist${hint}`);
}

export function lookAt(folder: Folder, name: string): Stats | undefined {
  return lstatSync(entryOf(folder, name), {throwIfNoEntry: false});
}

/** Stat by plain path, which may go through links; undefined also without permission. */
export function glance(path: string): Stats | undefined {
  try {
    return lstatSync(path, {throwIfNoEntry: false});
  } catch {
    return undefined;
  }
}

/** A NUL near the start marks a binary file. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, 8192).includes(0);
}

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
