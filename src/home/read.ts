import {isAscii, isUtf8} from 'node:buffer';
import {constants} from 'node:fs';
import {type Problem, problem} from '../formats/common/diagnostic.ts';
import {expectedNames, folders, kindOf} from '../formats/common/key.ts';
import type {DirectoryEntry, Disk, FileStat, OpenFile} from './disk/disk.ts';

/** The bytes of a file, the stat of the same open file, and whether the path is a symbolic link. */
export interface FileRead {
  bytes: Buffer;
  stat: FileStat;
  link: boolean;
}

/** The content of a file, or why it cannot be read. Undefined: no file. */
export type ReadResult =
  | ({text: string} & FileRead)
  /** Not text. */
  | ({problem: Problem} & FileRead)
  | {problem: Problem; bytes?: undefined}
  | undefined;

/** The size limit of files. Only the last part of a larger inbox is read. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Sorted paths of all files of the home, or of some of its folders. */
export function listHome(disk: Disk, of: readonly string[] = folders): {paths: string[]; problems: Problem[]} {
  const listing = {paths: ['agentdir.yaml', 'allowlist.yaml'], problems: []};
  for (const folder of of) collect(disk, folder, listing);
  listing.paths.sort();
  return listing;
}

/** Unsorted paths of the files in one folder. Skips what cannot be read. */
export function listFolder(disk: Disk, folder: string): string[] {
  const listing = {paths: [], problems: []};
  collect(disk, folder, listing);
  return listing.paths;
}

function collect(disk: Disk, folder: string, listing: {paths: string[]; problems: Problem[]}): void {
  let entries: DirectoryEntry[];
  try {
    entries = disk.list(folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    if (code !== 'ENOENT') listing.problems.push(unreadableFolder(folder, code));
    return;
  }
  if (entries.some(({name}) => name === '.git')) return;
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (isMisnamed(disk, path, entry)) listing.problems.push(misnamed(path));
    else if (entry.isDirectory()) {
      if (!entry.name.startsWith('.')) collect(disk, path, listing);
    } else if (kindOf(path) && (entry.isFile() || isFile(disk, path))) listing.paths.push(path);
    else listing.problems.push(...misplaced(path));
  }
}

/** The warning about a file that is in a folder of ours but is not read, because of its name. */
export function misplaced(path: string): Problem[] {
  const names = expectedNames(path);
  if (names.length === 0) return [];
  const endings = names.map(name => name.slice(name.indexOf('.'))).join(' or ');
  const message = `the file is not read: expected a name that ends in ${endings}`;
  const like = names.find(name => name.endsWith(path.slice(path.lastIndexOf('.')))) ?? names[0];
  return [problem('NO_EFFECT', {line: 1, column: 1}, message, `rename it to ${like}, or move it elsewhere`, path)];
}

export function unreadableFolder(folder: string, code: string): Problem {
  const message = `expected a readable folder, found ${code}`;
  return problem('UNREADABLE', {line: 1, column: 1}, message, 'check its owner and permissions: ls -ld', folder);
}

/**
 * Whether the name of a folder or of a home file is not UTF-8. Node replaces the invalid bytes, so that nothing is found under the
 * resulting name.
 */
export function isMisnamed(disk: Disk, path: string, entry: DirectoryEntry): boolean {
  if (!entry.name.includes('\ufffd') || entry.name.startsWith('.')) return false;
  return (entry.isDirectory() || kindOf(path) !== undefined) && !disk.exists(path);
}

export function misnamed(path: string): Problem {
  const message = 'expected a file name in UTF-8, found other bytes; the file is not read';
  return problem('NOT_UTF8', {line: 1, column: 1}, message, 'rename it: ls -b shows the bytes', path);
}

/** Follows symbolic links: a person may keep a file elsewhere. */
function isFile(disk: Disk, path: string): boolean {
  try {
    return disk.stat(path)?.isFile() === true;
  } catch {
    // A circular link, or no permission.
    return false;
  }
}

/** Whether a path is in a nested repository or submodule, whose files do not belong to the home. */
export function isForeign(disk: Disk, path: string): boolean {
  const parts = path.split('/');
  for (let depth = 1; depth < parts.length; depth++)
    if (disk.exists(`${parts.slice(0, depth).join('/')}/.git`)) return true;
  return false;
}

/** The unresolved target of a symbolic link. Undefined for a regular file. */
export function linkTarget(disk: Disk, path: string): string | undefined {
  return disk.lstat(path)?.isSymbolicLink() ? disk.readLink(path) : undefined;
}

/** Read a file. Text that is not UTF-8 is a problem: decoding it loosely would lose bytes on the next save. */
export function readHomeFile(disk: Disk, path: string): ReadResult {
  let read: FileRead;
  try {
    read = readBytes(disk, path, path.endsWith('.jsonl'));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    // In conflicts/, any path has a kind, also that of a folder.
    if (code === 'ENOENT' || (code === 'EISDIR' && kindOf(path) === 'conflict')) return undefined;
    const tooLarge = error instanceof RangeError;
    return {
      problem: tooLarge
        ? problem(
            'FILE_TOO_LARGE',
            {line: 1, column: 1},
            `expected at most ${MAX_BYTES / 1024 / 1024} MB, found more`,
            'split the file',
            path,
          )
        : problem(
            'UNREADABLE',
            {line: 1, column: 1},
            `expected a readable file, found ${code}`,
            code === 'EISDIR' ? 'move the folder away' : 'check its owner and permissions: ls -l',
            path,
          ),
    };
  }
  if ((read.link || DECIDING.test(path)) && leadsToWorkspace(disk, path)) {
    const message = 'expected a file, found a link into workspaces/, where agents write';
    return {problem: problem('UNREADABLE', {line: 1, column: 1}, message, 'replace the link with a file', path)};
  }
  const {bytes} = read;
  if (!isUtf8(bytes)) return {problem: notUtf8(bytes, path), ...read};
  let text: string | undefined;
  return {
    ...read,
    /** Decoded on demand: most looks find unchanged bytes. */
    get text() {
      text ??= bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
      return text;
    },
  };
}

/** Files that decide what agents may do. Their parent folders are checked for links, too. */
const DECIDING = /^(?:templates|approvals|tasks|\.workflow)\//;

/** Whether a path resolves into a folder where agents write. Files there must not decide anything. */
export function leadsToWorkspace(disk: Disk, path: string): boolean {
  const real = realPath(disk, path);
  return ['workspaces', '.workspaces'].some(folder => {
    const root = realPath(disk, folder);
    return real !== undefined && root !== undefined && real.startsWith(`${root}/`);
  });
}

function realPath(disk: Disk, path: string): string | undefined {
  try {
    return disk.realPath(path);
  } catch {
    return undefined;
  }
}

/** Throws ENOENT for a pipe or a device. `tail`: read only the last part of a file that is too large. */
export function readBytes(disk: Disk, path: string, tail = false): FileRead {
  const {file, link} = open(disk, path);
  try {
    const stat = file.stat();
    if (!stat.isFile()) throw Object.assign(new Error('not a file'), {code: stat.isDirectory() ? 'EISDIR' : 'ENOENT'});
    const size = Number(stat.size);
    if (size > MAX_BYTES && !tail) throw new RangeError('too large');
    const from = Math.max(0, size - MAX_BYTES);
    const buffer = Buffer.allocUnsafe(size - from);
    let length = 0;
    for (let got = -1; length < buffer.length && got !== 0; length += got)
      got = file.read(buffer, length, buffer.length - length, from + length);
    const bytes = buffer.subarray(0, length);
    return {bytes: from === 0 ? bytes : bytes.subarray(bytes.indexOf(10) + 1), stat, link};
  } finally {
    file.close();
  }
}

// Without O_NONBLOCK, opening a pipe would block the process until somebody writes into it.
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/** Opening with O_NOFOLLOW first tells a file from a link without an extra stat. */
function open(disk: Disk, path: string): {file: OpenFile; link: boolean} {
  try {
    return {file: disk.open(path, READ | constants.O_NOFOLLOW), link: false};
  } catch (error) {
    // A link fails with ELOOP, on some systems with EMLINK or EFTYPE.
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES') throw error;
    return {file: disk.open(path, READ), link: true};
  }
}

function notUtf8(bytes: Buffer, path: string): Problem {
  // The first line whose bytes do not survive decoding.
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    const part = bytes.subarray(start, end);
    if (!Buffer.from(part.toString('utf8')).equals(part)) break;
    start = end + 1;
  }
  return problem(
    'NOT_UTF8',
    {line, column: 1},
    'expected UTF-8 text, found other bytes',
    'save the file as UTF-8, for example: iconv -f latin1 -t utf-8',
    path,
  );
}
