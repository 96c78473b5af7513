import {type BigIntStats, closeSync, constants, fstatSync, openSync, readlinkSync} from 'node:fs';
import {STAMP_MS} from '../../home/git/git-clean.ts';
import {objectId} from '../../home/git/git-objects.ts';
import {type ByteFolder, inFolder} from './byte-folder.ts';
import {cleanGit} from './clean-git.ts';
import {readAll} from './open-file.ts';

/** Larger files are not an agent's text, and keeping them would make the history grow without end. */
const MOST_BYTES = 50 * 1024 * 1024;
/** Larger files are compressed by git itself, in a process of its own. */
const LARGE = 1024 * 1024;

const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const never = new AbortController().signal;

/** A file or link as git stores it. */
export interface Content {
  id: string;
  mode: number;
  /** Undefined: the object is already written. */
  bytes: Buffer | undefined;
  /** Set only if an equal stat proves from now on that the content is unchanged. */
  stat: BigIntStats | undefined;
  /** Permission bits of a file on disk. */
  permissions?: number;
}

export const modes = {file: 0o100644, executable: 0o100755, link: 0o120000, repository: 0o160000} as const;

/** Read through the folder's descriptor without following a link. Or why the file is left out. Throws system errors. */
export async function readContent(
  folder: ByteFolder,
  name: string,
  stat: BigIntStats,
  gitDir: string,
): Promise<Content | {leftOut: string}> {
  const path = inFolder(folder, name);
  const looked = Date.now();
  if (stat.isSymbolicLink()) {
    const bytes = readlinkSync(path, {encoding: 'buffer'});
    return {id: objectId('sha1', 'blob', bytes), mode: modes.link, bytes, stat: proven(stat, stat, looked)};
  }
  if (!stat.isFile()) return {leftOut: 'is a device, pipe or socket'};
  const fd = openSync(path, OPEN_FILE);
  try {
    const before = fstatSync(fd, {bigint: true});
    if (!before.isFile()) return {leftOut: 'is a device, pipe or socket'};
    if (before.size > MOST_BYTES) return {leftOut: `is larger than ${MOST_BYTES / 1024 / 1024} MB`};
    const read = before.size > LARGE ? await largeBlob(fd, gitDir) : await small(fd, Number(before.size));
    if ('leftOut' in read) return read;
    const mode = before.mode & 0o100n ? modes.executable : modes.file;
    const permissions = Number(before.mode & 0o777n);
    return {...read, mode, permissions, stat: proven(before, fstatSync(fd, {bigint: true}), looked)};
  } finally {
    closeSync(fd);
  }
}

async function small(fd: number, size: number): Promise<{id: string; bytes: Buffer} | {leftOut: string}> {
  const bytes = await readAll(fd, size, MOST_BYTES, never);
  return bytes ? {id: objectId('sha1', 'blob', bytes), bytes} : {leftOut: 'grows too fast to be kept'};
}

/** Git reads the open file: without a path, no filter applies. */
async function largeBlob(fd: number, gitDir: string): Promise<{id: string; bytes: undefined} | {leftOut: string}> {
  const said = await cleanGit(gitDir, ['hash-object', '-w', '--no-filters', '--stdin'], {input: fd});
  const id = said.stdout.toString('latin1').trim();
  return said.code === 0 && /^[0-9a-f]{40}$/.test(id)
    ? {id, bytes: undefined}
    : {leftOut: 'was changed while it was read'};
}

/** A change within the same clock tick would not show in the stat, so a recent stat proves nothing. */
function proven(before: BigIntStats, after: BigIntStats, looked: number): BigIntStats | undefined {
  const still = before.ctimeNs === after.ctimeNs && before.size === after.size;
  return still && after.ctimeNs < BigInt(looked - STAMP_MS) * 1_000_000n ? after : undefined;
}
