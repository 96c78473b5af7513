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

/** A passage of a file, by the number that the index of words knows it by. */
export interface IndexedPassage extends Passage {
  id: number;
  /** Of its headings and text: by this its vector is known. */
  hash: string;
}

/** A file as it was read. */
export interface IndexedFile {
  /** Parts of its path below the root. */
  parts: readonly string[];
  /** Inode, size, times of change: if all are the same, so is the file. */
  stat: readonly [ino: number, size: number, mtime: number, ctime: number];
  /** False if it had just changed when it was read: then it may change again without a sign. */
  settled: boolean;
  hash: string;
  /** Why it has no passages. */
  left?: 'binary' | 'large' | 'full';
  passages: readonly IndexedPassage[];
  /** The last look that came across it. */
  seen: number;
}

/** The files below a root, by words. */
export interface FileIndex {
  words: WordIndex;
  files: Map<string, IndexedFile>;
  byId: Map<number, {file: IndexedFile; passage: IndexedPassage}>;
  nextId: number;
  /** So many passages have room. */
  most: number;
  /** Which look is the last. */
  look: number;
  /** Grows with each change. */
  revision: number;
}

/** As read_file has it. */
export const LARGEST = 1024 * 1024;
/** About 5 KB of memory each. */
const MOST_PASSAGES = 30_000;
/** A clock of files ticks every few milliseconds. */
const SETTLED_MS = 100;

export function newFileIndex(most = MOST_PASSAGES): FileIndex {
  return {words: new WordIndex(), files: new Map(), byId: new Map(), nextId: 1, most, look: 0, revision: 0};
}

/** Read a file into the index, unless it has the same text there. Undefined: it is gone, or not to be read. */
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

/** All of them, or none if it is stopped or there is no room. */
async function addPassages(
  index: FileIndex,
  file: IndexedFile,
  text: string,
  {redact, signal}: ToolContext,
): Promise<void> {
  const breathe = pace(signal);
  // What is kept of it is kept on disk, too.
  const isClean = redact.text(text) === text;
  const name = redact.text(file.parts.join('/'));
  const passages: IndexedPassage[] = [];
  let complete = false;
  try {
    for (const passage of passagesOf(text, isMarkdown(file.parts))) {
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

/** The text that offsets of passages are about; undefined if it is none. */
export function searchableText(bytes: Buffer): string | undefined {
  return asUtf8(bytes)
    ?.bytes.toString()
    .replace(/^\ufeff/, '');
}

function isMarkdown(parts: readonly string[]): boolean {
  return /\.(?:md|mdx|markdown)$/i.test(parts.at(-1) ?? '');
}

export function hashOf(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}
