import {createHash} from 'node:crypto';
import {closeSync} from 'node:fs';
import {pace} from '../tool/pace.ts';
import {withoutSecrets} from '../tool/search-lines.ts';
import type {ToolContext} from '../tool/tool.ts';
import type {Folder} from '../workspace/folder.ts';
import {openIn, readAll} from '../workspace/open-file.ts';
import {asUtf8} from '../workspace/text-encoding.ts';
import {type Passage, passagesOf} from './passages.ts';
import {WordIndex} from './word-index.ts';

/** `id` identifies the passage in the word index. */
export interface IndexedPassage extends Passage {
  id: number;
  /** Hash of headings and text; the key of its vector. */
  hash: string;
}

export interface IndexedFile {
  /** Path components below the root. */
  parts: readonly string[];
  /** If all four are equal, the file is unchanged. */
  stat: readonly [ino: number, size: number, mtime: number, ctime: number];
  /** False if the file changed just before it was read: it may change again with equal times. */
  settled: boolean;
  hash: string;
  /** Why the file has no passages. */
  left?: 'binary' | 'large' | 'full';
  passages: readonly IndexedPassage[];
  /** Number of the last `look` that found the file. */
  seen: number;
}

/** Word index of the files below a root. */
export interface FileIndex {
  words: WordIndex;
  files: Map<string, IndexedFile>;
  byId: Map<number, {file: IndexedFile; passage: IndexedPassage}>;
  nextId: number;
  /** Maximum number of passages. */
  most: number;
  /** Number of the current walk over the files. */
  look: number;
  /** Incremented with each change. */
  revision: number;
}

/** In bytes; the limit of read_file. */
export const LARGEST = 1024 * 1024;
/** Each takes about 5 KB of memory. */
const MOST_PASSAGES = 30_000;
/** File timestamps advance in steps of a few milliseconds. */
const SETTLED_MS = 100;

export function newFileIndex(most = MOST_PASSAGES): FileIndex {
  return {words: new WordIndex(), files: new Map(), byId: new Map(), nextId: 1, most, look: 0, revision: 0};
}

/** Read a file into the index, unless its content is unchanged. Undefined: the file is gone or unreadable. */
export async function readInto(
  index: FileIndex,
  context: ToolContext,
  folder: Folder,
  name: string,
  parts: readonly string[],
): Promise<IndexedFile | undefined> {
  let opened: ReturnType<typeof openIn>;
  try {
    opened = openIn(folder, name);
  } catch {
    return undefined;
  }
  if (!opened) return undefined;
  const {fd, stat} = opened;
  const began = Date.now();
  let bytes: Buffer | undefined;
  try {
    bytes = await readAll(fd, stat.size, LARGEST, context.signal);
  } finally {
    closeSync(fd);
  }
  const key = parts.join('/');
  const known = index.files.get(key);
  const hash = bytes ? hashOf(bytes) : '';
  const state = {
    stat: [stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs] as const,
    settled: began - Math.max(stat.mtimeMs, stat.ctimeMs) > SETTLED_MS,
    hash,
  };
  index.revision++;
  if (known && known.hash === hash && hash !== '' && known.left !== 'full') return Object.assign(known, state);
  if (known) forget(index, key, known);
  const file: IndexedFile = {parts, ...state, passages: [], seen: 0};
  const text = bytes && searchableText(bytes);
  if (text === undefined) file.left = bytes ? 'binary' : 'large';
  else await addPassages(index, file, text, context);
  index.files.set(key, file);
  return file;
}

/** Add all passages, or none if the call is stopped or the index is full. */
async function addPassages(
  index: FileIndex,
  file: IndexedFile,
  text: string,
  {redact, signal}: ToolContext,
): Promise<void> {
  const breathe = pace(signal);
  // The index is saved to disk, so it must not contain secrets.
  const isClean = redact.text(text) === text;
  const name = redact.text(file.parts.join('/'));
  const isMarkdown = /\.(?:md|mdx|markdown)$/i.test(file.parts.at(-1) ?? '');
  const passages: IndexedPassage[] = [];
  let complete = false;
  try {
    for (const passage of passagesOf(text, isMarkdown)) {
      if (index.byId.size >= index.most) break;
      const {start, end} = passage;
      const part = isClean ? text.slice(start, end) : withoutSecrets(text, start, end, redact);
      const trail = redact.text(passage.trail);
      const added = {...passage, trail, id: index.nextId++, hash: hashOf(`${trail}\n${part}`)};
      index.words.add({id: added.id, text: part, name, trail});
      index.byId.set(added.id, {file, passage: added});
      passages.push(added);
      const pause = breathe();
      if (pause) await pause;
    }
    complete = index.byId.size < index.most;
  } finally {
    file.passages = passages;
    if (!complete) {
      removePassages(index, file);
      file.left = 'full';
    }
  }
}

export function forget(index: FileIndex, key: string, file: IndexedFile): void {
  removePassages(index, file);
  index.files.delete(key);
  index.revision++;
}

function removePassages(index: FileIndex, file: IndexedFile): void {
  for (const {id} of file.passages) {
    index.words.discard(id);
    index.byId.delete(id);
  }
  file.passages = [];
}

/** The text that passage offsets refer to; undefined for binary files. */
export function searchableText(bytes: Buffer): string | undefined {
  return asUtf8(bytes)
    ?.bytes.toString()
    .replace(/^\ufeff/, '');
}

export function hashOf(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}
