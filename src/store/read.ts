import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  statSync,
} from 'node:fs';
import {join} from 'node:path';
import {type Problem, problem} from '../files/diagnostic.ts';
import {folders, kindOf} from '../files/key.ts';

/** What a file holds, or why it cannot be read. */
export type ReadResult =
  | {text: string; bytes: Buffer; stat: BigIntStats}
  /** The bytes are known if they are only not text. */
  | {problem: Problem; bytes: Buffer; stat: BigIntStats}
  | {problem: Problem; bytes?: undefined}
  | undefined;

/** Larger files are not text that people edit. Of an inbox only the last part is looked at. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Paths of all files of the home, relative to it, in a stable order. */
export function listHome(home: string): {paths: string[]; problems: Problem[]} {
  const listing = {paths: ['agentdir.yaml', 'allowlist.yaml'], problems: []};
  for (const folder of folders) collect(home, folder, listing);
  listing.paths.sort();
  return listing;
}

function collect(home: string, folder: string, listing: {paths: string[]; problems: Problem[]}): void {
  let entries: Dirent[];
  try {
    entries = readdirSync(join(home, folder), {withFileTypes: true});
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    if (code !== 'ENOENT') listing.problems.push(unreadableFolder(folder, code));
    return;
  }
  if (entries.some(({name}) => name === '.git')) return;
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!entry.name.startsWith('.')) collect(home, path, listing);
    } else if (kindOf(path) && (entry.isFile() || isFile(join(home, path)))) listing.paths.push(path);
  }
}

export function unreadableFolder(folder: string, code: string): Problem {
  const message = `expected a readable folder, found ${code}`;
  return problem('UNREADABLE', {line: 1, column: 1}, message, 'look at its owner and permissions: ls -ld', folder);
}

/** Follows links: a person may keep a file elsewhere. */
function isFile(path: string): boolean {
  try {
    return statSync(path, {throwIfNoEntry: false})?.isFile() === true;
  } catch {
    // A link that leads in a circle, or where nobody may look.
    return false;
  }
}

/** A submodule, or another repository inside the home: its files are its own, as they are for git. */
export function isForeign(home: string, path: string): boolean {
  const parts = path.split('/');
  for (let depth = 1; depth < parts.length; depth++)
    if (existsSync(join(home, ...parts.slice(0, depth), '.git'))) return true;
  return false;
}

/** What a link in the home leads to, as it is written; undefined for a file. */
export function linkTarget(home: string, path: string): string | undefined {
  const place = join(home, path);
  return lstatSync(place, {throwIfNoEntry: false})?.isSymbolicLink() ? readlinkSync(place) : undefined;
}

const decoder = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true});

/** Undefined: no such file. Text that is not UTF-8 is a problem: decoding it loosely would lose bytes on the next save. */
export function readHomeFile(home: string, path: string): ReadResult {
  let read: {bytes: Buffer; stat: BigIntStats};
  try {
    read = readBytes(join(home, path), path.endsWith('.jsonl'));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    if (code === 'ENOENT') return undefined;
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
            code === 'EISDIR' ? 'move the folder away' : 'look at its owner and permissions: ls -l',
            path,
          ),
    };
  }
  try {
    return {text: decoder.decode(read.bytes), ...read};
  } catch {
    return {problem: notUtf8(read.bytes, path), ...read};
  }
}

/** The bytes, and the stat of the very file they were read from. A pipe or a device is as if it were not there. */
export function readBytes(path: string, tail = false): {bytes: Buffer; stat: BigIntStats} {
  // A pipe would keep the whole process waiting for somebody to write into it.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd, {bigint: true});
    if (!stat.isFile()) throw Object.assign(new Error('not a file'), {code: stat.isDirectory() ? 'EISDIR' : 'ENOENT'});
    const size = Number(stat.size);
    if (size > MAX_BYTES && !tail) throw new RangeError('too large');
    const from = Math.max(0, size - MAX_BYTES);
    const buffer = Buffer.allocUnsafe(size - from);
    let length = 0;
    for (let got = -1; length < buffer.length && got !== 0; length += got)
      got = readSync(fd, buffer, length, buffer.length - length, from + length);
    const bytes = buffer.subarray(0, length);
    return {bytes: from === 0 ? bytes : bytes.subarray(bytes.indexOf(10) + 1), stat};
  } finally {
    closeSync(fd);
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
