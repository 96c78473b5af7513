import {randomBytes} from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import {promisify} from 'node:util';
import {errorCode, failure, isFailure, systemFailure} from '../tool/failure.ts';
import type {ToolContext, ToolFailure} from '../tool/tool.ts';
import {
  assertInPlace,
  closeFolder,
  confirm,
  entryOf,
  type Folder,
  openFolder,
  openIfThere,
  refusedEntry,
} from './folder.ts';
import {lookAt} from './open-file.ts';
import type {ToolPath} from './place.ts';

/** In bytes. Larger contents are not text that a model wrote. */
export const MAX_WRITTEN = 16 * 1024 * 1024;

const OPEN_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const TEMPORARY = /^\.agentdir-[0-9a-f]{16}\.tmp$/;

/** Marks the temporary files of this process. */
const OWN = randomBytes(4).toString('hex');

const synced = promisify(fsync);

/** A file that is being written, or was when the daemon was killed. */
export function isTemporary(name: string): boolean {
  return TEMPORARY.test(name);
}

export interface WriteResult {
  created: boolean;
  bytes: number;
}

/** Write `content` atomically and durably. `over`: replace nothing, anything, or only the file that was read. */
export async function replaceFile(
  context: ToolContext,
  place: ToolPath,
  content: string,
  over: 'nothing' | 'anything' | Stats,
): Promise<WriteResult | ToolFailure> {
  const name = place.parts.at(-1);
  if (name === undefined) return failure('FAILED', `${place.path} is a directory`);
  const bytes = Buffer.from(content);
  if (bytes.length > MAX_WRITTEN) return failure('FAILED', `more than ${MAX_WRITTEN / 1024 / 1024} MB is not written`);
  const folder = openFolder(context, place, place.parts.slice(0, -1), {make: typeof over === 'string'});
  if (isFailure(folder)) return folder;
  try {
    const before = mayReplace(folder, name, place.path, over);
    if (isFailure(before)) return before;
    const temporary = `.agentdir-${OWN}${randomBytes(4).toString('hex')}.tmp`;
    try {
      await writeNew(folder, temporary, bytes, before);
      const now = mayReplace(folder, name, place.path, over);
      if (isFailure(now)) return now;
      if (over === 'nothing') giveNewName(folder, temporary, name);
      else renameSync(entryOf(folder, temporary), entryOf(folder, name));
      assertInPlace(folder);
    } finally {
      remove(folder, temporary);
    }
    await synced(folder.fd);
    return {created: before === undefined, bytes: bytes.length};
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return failure('FAILED', `${place.path} exists already`);
    return systemFailure(error, place.path);
  } finally {
    closeFolder(folder);
  }
}

/** Check whether `replaceFile` would succeed now. Returns the stat of the existing file, if any. Changes nothing. */
export function wouldReplace(
  context: ToolContext,
  place: ToolPath,
  content: string,
  over: 'nothing' | 'anything' | Stats,
): {stat: Stats | undefined} | ToolFailure {
  const name = place.parts.at(-1);
  if (name === undefined) return failure('FAILED', `${place.path} is a directory`);
  if (Buffer.byteLength(content) > MAX_WRITTEN)
    return failure('FAILED', `more than ${MAX_WRITTEN / 1024 / 1024} MB is not written`);
  const folder = openIfThere(context, place, place.parts.slice(0, -1));
  if (folder === undefined) return {stat: undefined};
  if (isFailure(folder)) return folder;
  try {
    const stat = mayReplace(folder, name, place.path, over);
    return isFailure(stat) ? stat : {stat};
  } catch (error) {
    return systemFailure(error, place.path);
  } finally {
    closeFolder(folder);
  }
}

/** Remove temporary files that a killed daemon left beside this place. Never throws. */
export function clearTemporaryFiles(context: ToolContext, place: ToolPath): void {
  const folder = openFolder(context, place, place.parts.slice(0, -1));
  if (isFailure(folder)) return;
  try {
    for (const name of readdirSync(folder.path))
      if (isTemporary(name) && !name.startsWith(`.agentdir-${OWN}`)) remove(folder, name);
  } catch {
    // Leftovers do no harm.
  } finally {
    closeFolder(folder);
  }
}

/** Stat of the existing file, if it may be replaced. */
function mayReplace(
  folder: Folder,
  name: string,
  shown: string,
  over: 'nothing' | 'anything' | Stats,
): Stats | undefined | ToolFailure {
  const refused = refusedEntry(folder, name, shown, 'file');
  if (refused) return refused;
  let stat = lookAt(folder, name);
  if (over === 'nothing') {
    return stat && failure('FAILED', `${shown} exists already; edit_file changes it, write_file replaces it`);
  }
  if (stat && stat.nlink > 1) {
    dropOwnLinks(folder, stat);
    stat = lookAt(folder, name);
  }
  if (stat && stat.nlink > 1)
    return failure('DENIED', `${shown} has more than one hard link: it may be a file of somewhere else`);
  if (typeof over === 'string') return stat;
  const same = stat?.ino === over.ino && stat.mtimeMs === over.mtimeMs && stat.size === over.size;
  return same ? stat : failure('FAILED', `${shown} was changed meanwhile; read it again`);
}

/** Unlike a rename, a link does not replace a file created meanwhile. Without links, rely on the check just before. */
function giveNewName(folder: Folder, temporary: string, name: string): void {
  try {
    linkSync(entryOf(folder, temporary), entryOf(folder, name));
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(errorCode(error) ?? '')) throw error;
    renameSync(entryOf(folder, temporary), entryOf(folder, name));
  }
}

async function writeNew(folder: Folder, name: string, bytes: Buffer, like: Stats | undefined): Promise<void> {
  const fd = openSync(entryOf(folder, name), OPEN_NEW, 0o666);
  try {
    confirm(folder, name, fd);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    if (like) {
      keepOwner(fd, like);
      fchmodSync(fd, like.mode & 0o777);
    }
    await synced(fd);
  } finally {
    closeSync(fd);
  }
}

/** Only root can change owners; for other users the owner is unchanged anyway. */
function keepOwner(fd: number, {uid, gid}: Stats): void {
  if (process.getuid?.() !== 0) return;
  fchownSync(fd, uid, gid);
}

function remove(folder: Folder, name: string): void {
  try {
    unlinkSync(entryOf(folder, name));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** A daemon killed after linking and before removing the temporary name left both names. */
function dropOwnLinks(folder: Folder, {dev, ino}: Stats): void {
  for (const name of readdirSync(folder.path)) {
    if (!isTemporary(name)) continue;
    const stat = lstatSync(entryOf(folder, name), {throwIfNoEntry: false});
    if (stat?.ino === ino && stat.dev === dev) remove(folder, name);
  }
}
