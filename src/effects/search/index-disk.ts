import {createHash, randomBytes} from 'node:crypto';
import {mkdir, open, readdir, readFile, rename, rm, stat} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {pace} from '../tool/pace.ts';
import {type FileIndex, type IndexedFile, type IndexedPassage, newFileIndex} from './file-index.ts';
import type {IndexedWord, IndexHead} from './word-index.ts';

/** Change this whenever word splitting, passages or hashes change. */
const VERSION = 'agentdir search 2';
const LARGEST = 256 * 1024 * 1024;
/** Approximate number of values per line, so that no line takes long to write or parse. */
const LINE = 4000;

type FileRow = [
  parts: readonly string[],
  stat: IndexedFile['stat'],
  hash: string,
  left: IndexedFile['left'] | null,
  passages: PassageRow[],
];
type PassageRow = [id: number, start: number, end: number, first: number, last: number, trail: string, hash: string];

/** Everything in this folder is derived and may be deleted at any time, even while the daemon runs. */
export const searchFolder = (home: string) => join(home, '.agentdir/search');

/** Write lines of JSON: version, head, files, words, and a hash of all. Returns false if `stale` stopped it. */
export async function saveIndex(path: string, index: FileIndex, stale: () => boolean): Promise<boolean> {
  const breathe = pace();
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  await mkdir(dirname(path), {recursive: true, mode: 0o700});
  const file = await open(temporary, 'wx', 0o600);
  const hash = createHash('sha256');
  let complete = false;
  try {
    let pending: string[] = [];
    for (const line of linesOf(index)) {
      hash.update(line);
      pending.push(line);
      const pause = breathe();
      if (!pause) continue;
      await pause;
      await file.write(pending.join(''));
      pending = [];
      if (stale()) return false;
    }
    await file.write(`${pending.join('')}${JSON.stringify(hash.digest('hex'))}\n`);
    complete = !stale();
  } finally {
    await file.close();
    if (complete) await rename(temporary, path);
    else await rm(temporary, {force: true});
  }
  return complete;
}

function* linesOf(index: FileIndex): Generator<string> {
  const {words, files, nextId} = index;
  const {ids, lengths, ...head} = words.head();
  yield line(VERSION);
  yield line({...head, nextPassage: nextId, parts: [ids, lengths].map(rows => Math.ceil(rows.length / LINE))});
  for (const rows of [ids, lengths])
    for (let at = 0; at < rows.length; at += LINE) yield line(rows.slice(at, at + LINE));
  yield* batches(fileRows(files.values()), ([, , , , passages]) => 5 + passages.length * 7);
  yield line([]);
  yield* batches(
    words.indexedWords(),
    ([, ...fields]) => 1 + fields.reduce((sum, [, counts]) => sum + counts.length, 0),
  );
}

function* fileRows(files: Iterable<IndexedFile>): Generator<FileRow> {
  for (const file of files) yield fileRow(file);
}

function fileRow({parts, stat: numbers, settled, hash, left, passages}: IndexedFile): FileRow {
  const rows = passages.map(
    ({id, start, end, first, last, trail, hash: own}): PassageRow => [id, start, end, first, last, trail, own],
  );
  // Zeros make the next daemon read a file that changed just before it was read.
  return [parts, settled ? numbers : [0, 0, 0, 0], hash, left ?? null, rows];
}

function* batches<T>(rows: Iterable<T>, sizeOf: (row: T) => number): Generator<string> {
  let batch: T[] = [];
  let size = 0;
  for (const row of rows) {
    batch.push(row);
    size += sizeOf(row);
    if (size < LINE) continue;
    yield line(batch);
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield line(batch);
}

const line = (value: unknown) => `${JSON.stringify(value)}\n`;

/** Undefined if there is no usable index. */
export async function loadIndex(path: string, signal: AbortSignal): Promise<FileIndex | undefined> {
  const breathe = pace(signal);
  try {
    if ((await stat(path)).size > LARGEST) return undefined;
    const bytes = await readFile(path, {signal});
    if (!(await isWhole(bytes, breathe))) return undefined;
    return await restored(lines(bytes), breathe);
  } catch (error) {
    // Ignore any damage: the files can be read again.
    if (signal.aborted) throw error;
    return undefined;
  }
}

async function isWhole(bytes: Buffer, breathe: () => Promise<void> | undefined): Promise<boolean> {
  const end = bytes.lastIndexOf(10, -2) + 1;
  const hash = createHash('sha256');
  for (let at = 0; at < end; at += 1024 * 1024) {
    hash.update(bytes.subarray(at, Math.min(at + 1024 * 1024, end)));
    await breathe();
  }
  return bytes.toString('utf8', end) === line(hash.digest('hex'));
}

/** All lines but the last, which is the hash. */
function* lines(bytes: Buffer): Generator<unknown> {
  const last = bytes.lastIndexOf(10, -2);
  for (let at = 0; at <= last; ) {
    const end = bytes.indexOf(10, at);
    yield JSON.parse(bytes.toString('utf8', at, end));
    at = end + 1;
  }
}

interface Head extends Omit<IndexHead, 'ids' | 'lengths'> {
  nextPassage: number;
  parts: [ids: number, lengths: number];
}

async function restored(
  rows: Generator<unknown>,
  breathe: () => Promise<void> | undefined,
): Promise<FileIndex | undefined> {
  const next = () => rows.next().value;
  if (next() !== VERSION) return undefined;
  const index = newFileIndex();
  const {nextPassage, parts, ...head} = next() as Head;
  const [ids, lengths] = parts.map(count => Array.from({length: count}, () => next() as unknown[]).flat());
  index.nextId = nextPassage;
  index.words.restoreHead({...head, ids: ids as IndexHead['ids'], lengths: lengths as IndexHead['lengths']});
  for (let batch = next() as FileRow[]; batch.length > 0; batch = next() as FileRow[]) {
    for (const row of batch) restoreFile(index, row);
    await breathe();
  }
  for (const batch of rows) {
    for (const word of batch as IndexedWord[]) index.words.restoreWord(word);
    await breathe();
  }
  return index;
}

function restoreFile(index: FileIndex, [parts, numbers, hash, left, rows]: FileRow): void {
  const passages = rows.map(
    ([id, start, end, first, last, trail, own]): IndexedPassage => ({id, start, end, first, last, trail, hash: own}),
  );
  const file: IndexedFile = {parts, stat: numbers, settled: numbers[0] !== 0, hash, passages, seen: 0};
  if (left) file.left = left;
  index.files.set(parts.join('/'), file);
  for (const passage of passages) index.byId.set(passage.id, {file, passage});
}

/** Remove files that a killed daemon left half-written. */
export async function clearTemporary(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  await Promise.all(names.filter(name => name.endsWith('.tmp')).map(name => rm(join(folder, name), {force: true})));
}
