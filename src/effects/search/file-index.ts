import {createHash} from 'node:crypto';
import {closeSync, type Stats} from 'node:fs';
import {isFailure} from '../tools/failure.ts';
import {pace} from '../tools/pace.ts';
import {withoutSecrets} from '../tools/search-lines.ts';
import {asUtf8} from '../tools/text-encoding.ts';
import type {ToolContext, ToolFailure} from '../tools/tool.ts';
import {closeFolder, type Folder, openFolder, writtenRoot} from '../workspace/folder.ts';
import {glance, kindAt, lookAt, openIn, readAll} from '../workspace/open-file.ts';
import type {Place} from '../workspace/place.ts';
import {type Walked, walk} from '../workspace/walk.ts';
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

/** What a look at the files of a place came to. */
export interface Looked extends Walked {
  /** Files that can be searched. */
  files: number;
  binary: number;
  large: number;
  /** Files for which the index has no room. */
  full: number;
  /** Files that there was no time to read. */
  unread: number;
}

/** As read_file has it. */
export const LARGEST = 1024 * 1024;
/** About 5 KB of memory each. */
const MOST_PASSAGES = 30_000;
/** A clock of files ticks every few milliseconds. */
const SETTLED_MS = 100;
/** A call does not wait longer than this for files to be read; the next goes on. */
const LONGEST_READING_MS = 10_000;

export function emptyIndex(most = MOST_PASSAGES): FileIndex {
  return {words: new WordIndex(), files: new Map(), byId: new Map(), nextId: 1, most, look: 0, revision: 0};
}

/**
 * Look at all files of a place; what is not there any more leaves, then those are read that are not as they were read: a
 * folder that was moved has room. Stopped halfway, it has done what it has done, and the next look goes on.
 */
export async function bringUpToDate(
  index: FileIndex,
  context: ToolContext,
  place: Place,
): Promise<Looked | ToolFailure> {
  const look = ++index.look;
  const looked = {files: 0, binary: 0, large: 0, full: 0, unread: 0};
  const count = (file: IndexedFile) => {
    file.seen = look;
    if (file.left) looked[file.left]++;
    else looked.files++;
  };
  const changed: (readonly string[])[] = [];
  const full: IndexedFile[] = [];
  const root = writtenRoot(context, place);
  const visit = (folder: Folder, name: string, parts: readonly string[]): true => {
    const path = parts.join('/');
    const known = index.files.get(path);
    // Of one that is known only whether it may have changed: what is read is opened without a link on the way.
    const stat = known ? glance(`${root}/${path}`) : lookAt(folder, name);
    if (!stat?.isFile()) return true;
    if (known) known.seen = look;
    if (!known?.settled || !isSame(known, stat)) changed.push(parts);
    else if (known.left === 'full') full.push(known);
    else count(known);
    return true;
  };
  const kind = kindAt(context, place);
  if (isFailure(kind)) return kind;
  const walked = await (kind === 'file' ? one(context, place, visit) : all(context, place, visit));
  if (isFailure(walked)) return walked;
  if (walked.incomplete === undefined) {
    const prefix = place.parts.length === 0 ? '' : `${place.parts.join('/')}${kind === 'file' ? '' : '/'}`;
    for (const [key, file] of index.files)
      if (file.seen !== look && key.startsWith(prefix) && (kind !== 'file' || key === prefix)) forget(index, key, file);
  }
  const hasRoom = index.byId.size < index.most * 0.9;
  if (hasRoom) changed.push(...full.map(({parts}) => parts));
  else for (const file of full) count(file);
  const until = performance.now() + LONGEST_READING_MS;
  // A note is read in less time than others may be kept waiting, a thousand of them are not.
  const breathe = pace(context.signal);
  for (const parts of changed) {
    const pause = breathe();
    if (pause) await pause;
    const late = performance.now() > until;
    const file = late ? undefined : await readAt(index, context, place, parts);
    if (file) count(file);
    else if (late) looked.unread++;
    const known = file ? undefined : index.files.get(parts.join('/'));
    if (known) forget(index, parts.join('/'), known);
  }
  return {...walked, ...looked};
}

/** Undefined: it is gone, or not to be read. */
async function readAt(
  index: FileIndex,
  context: ToolContext,
  place: Place,
  parts: readonly string[],
): Promise<IndexedFile | undefined> {
  const folder = openFolder(context, place, parts.slice(0, -1));
  if (isFailure(folder)) return undefined;
  try {
    return await readInto(index, context, folder, parts.at(-1) ?? '', parts);
  } finally {
    closeFolder(folder);
  }
}

type Visit = (folder: Folder, name: string, parts: readonly string[]) => true;

/** What is named itself is looked at whatever ignore files say. */
async function one(context: ToolContext, place: Place, visit: Visit): Promise<Walked | ToolFailure> {
  const folder = openFolder(context, place, place.parts.slice(0, -1));
  if (isFailure(folder)) return folder;
  try {
    visit(folder, place.parts.at(-1) ?? '', place.parts);
  } finally {
    closeFolder(folder);
  }
  return {ignored: 0, hidden: 0};
}

function all(context: ToolContext, place: Place, visit: Visit): Promise<Walked | ToolFailure> {
  return walk(context, place, {
    start: true,
    enter: () => true,
    visit: ({folder, name, parts, kind}) => kind !== 'file' || visit(folder, name, parts),
    ignoring: true,
    withoutHidden: true,
  });
}

function isSame({stat: [ino, size, mtime, ctime]}: IndexedFile, now: Stats): boolean {
  return ino === now.ino && size === now.size && mtime === now.mtimeMs && ctime === now.ctimeMs;
}

/** Undefined: it is gone, or not to be read. */
async function readInto(
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
  const text = bytes && textOf(bytes);
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

function forget(index: FileIndex, key: string, file: IndexedFile): void {
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
export function textOf(bytes: Buffer): string | undefined {
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
