import {kindOf, stemOf} from '../../formats/common/key.ts';
import {type Cursor, cursorPath, type FinishedFile, type Position} from '../../formats/cursor-file.ts';
import type {Disk, FileStat} from '../../home/disk/disk.ts';
import {inboxFiles, listInbox, openNumbered} from '../../home/inbox-files.ts';
import {closeInbox, isContinued, isIdentified, marksOf, type OpenInbox} from '../../home/inbox-lines.ts';
import {
  isPacked,
  isPackedBeginning,
  isPackedFormOf,
  nameBeforePacking,
  packedInode,
  unpack,
} from '../../home/unpack-inbox.ts';
import type {Inboxes} from '../state/inboxes.ts';
import type {With} from '../state/parts.ts';

/** The part that a rotation adds to a file name, before or after its extension. */
const SUFFIX = /^[-_.]?\d[\dTZ_.:-]*$/;

/** A file that a rotation made of an inbox: renamed, copied, perhaps compressed. */
export interface RotatedFile {
  name: string;
  inode: string;
  size: number;
  /** Last write, and creation, in nanoseconds. */
  written: bigint;
  born: bigint;
}

/** Whether the name is a rotation of slack.jsonl that is an inbox itself, such as slack-20261117.jsonl or slack.1.jsonl. */
export function isRotatedName(stem: string, name: string): boolean {
  return name.startsWith(stem) && name.endsWith('.jsonl') && SUFFIX.test(name.slice(stem.length, -'.jsonl'.length));
}

/**
 * Rotated files of an inbox that are no inboxes themselves, oldest first. Without empty files. Not included: a compressed file while the
 * original or the unpacked form is there.
 */
export function rotatedFiles(disk: Disk, inbox: string): RotatedFile[] {
  const present = inboxFiles(disk);
  const unpackedInodes = new Set([...present.keys()].map(packedInode));
  const found: RotatedFile[] = [];
  for (const [name, stat] of present) {
    const plain = nameBeforePacking(name);
    if (!plain.startsWith(inbox) || !SUFFIX.test(plain.slice(inbox.length))) continue;
    if (kindOf(`inbox/${name}`) || stat.size === 0n) continue;
    if (isPacked(name) && (present.has(plain) || unpackedInodes.has(`${stat.ino}`))) continue;
    found.push(rotatedFile(name, stat));
  }
  return found.sort(byAge);
}

function rotatedFile(name: string, {ino, size, mtimeNs, birthtimeNs}: FileStat): RotatedFile {
  // An unpacked file is older than its creation.
  const born = packedInode(name) === undefined ? birthtimeNs : mtimeNs;
  return {name, inode: `${ino}`, size: Number(size), written: mtimeNs, born};
}

/** Files written within one tick of the kernel's clock: the higher number is older, so is the earlier date. */
function byAge(a: RotatedFile, b: RotatedFile): number {
  const byTime = Number(a.written - b.written) || Number(a.born - b.born);
  const [first, second] = [a, b].map(({name}) => nameBeforePacking(name));
  const isNumbered = /\.\d{1,4}$/.test(first ?? '');
  const byName = (first ?? '').localeCompare(second ?? '', 'en', {numeric: true});
  return byTime || (isNumbered ? -byName : byName);
}

/** Matches the rotated files of an inbox with the entries of its cursor. */
export interface ComparedFiles {
  /** Files that the cursor does not know, oldest first: nothing of them is read. */
  fresh: RotatedFile[];
  /** The file that the cursor is in, if it was renamed, or copied and truncated. `read`: it has no more lines. */
  former: RotatedFile | 'read' | undefined;
  /** The rotated files of the cursor that are still there, under their current inodes. */
  rotated: Position[];
  finished: FinishedFile[];
}

/**
 * Compare the rotated files of an inbox with its cursor, one to one: first by inode and content, then by content, because a file has
 * another inode after compression or in a copied home. `open`: the inbox file; a rotated file that it begins with is a backup, or the copy
 * of a rotation that has yet to truncate the original. `isCurrent`: it is the file that the cursor is in.
 */
export async function compareFiles(
  disk: Disk,
  inbox: string,
  cursor: Cursor,
  open: OpenInbox | undefined,
  isCurrent: boolean,
): Promise<ComparedFiles> {
  const found: ComparedFiles = {fresh: [], former: undefined, rotated: [], finished: []};
  let left = rotatedFiles(disk, inbox).filter(({inode}) => inode !== open?.inode);
  const take = async <T extends FinishedFile>(
    known: readonly T[],
    match: (file: RotatedFile, at: T) => Promise<RotatedFile | 'read' | undefined>,
    matched: (at: T, file: RotatedFile | 'read', inode: string) => void,
  ): Promise<T[]> => {
    const others: T[] = [];
    for (const at of known) {
      let result: RotatedFile | 'read' | undefined;
      for (const file of left) {
        result = await match(file, at);
        if (result === undefined) continue;
        left = left.filter(each => each !== file);
        matched(at, result, file.inode);
        break;
      }
      if (result === undefined) others.push(at);
    }
    return others;
  };
  const isInode = async (file: RotatedFile, at: FinishedFile) =>
    file.inode === at.inode ? contentAfter(disk, file, at) : undefined;
  const isContent = async (file: RotatedFile, at: FinishedFile) =>
    isIdentified(at) ? contentAfter(disk, file, at) : undefined;
  const isWhole = async (file: RotatedFile, at: FinishedFile) =>
    isIdentified(at) && (isPacked(file.name) || file.size === at.offset) && (await isComplete(disk, file, at))
      ? file
      : undefined;
  const current = isCurrent || cursor.inode === '' ? [] : [cursor];
  const former = (_: Position, file: RotatedFile | 'read', inode: string) => {
    found.former = file;
    if (file === 'read') found.finished.push({...cursor, inode});
  };
  const rotated = (at: Position, file: RotatedFile | 'read', inode: string) => {
    if (file === 'read') found.finished.push({...at, inode});
    else found.rotated.push({...at, inode: file.inode});
  };
  const finished = (at: FinishedFile, _: unknown, inode: string) => found.finished.push({...at, inode});
  const movedCurrent = await take(current, isInode, former);
  const movedRotated = await take(cursor.rotated ?? [], isInode, rotated);
  const movedFinished = await take(cursor.finished ?? [], isInode, finished);
  await take(movedRotated, isContent, rotated);
  await take(movedFinished, isWhole, finished);
  await take(movedCurrent, isContent, former);
  if (open) left = await asyncFilter(left, async file => !(await isCopyOf(disk, file, open)));
  for (const file of left) {
    const readable = isPacked(file.name) ? await unpacked(disk, file) : file;
    if (readable) found.fresh.push(readable);
  }
  // Rotated inboxes under names of their own are found where they are read.
  const missing = (cursor.rotated ?? []).filter(
    ({generation}) => !found.rotated.some(each => each.generation === generation),
  );
  for (const at of missing) if (openNumberedName(disk, at.inode) !== undefined) found.rotated.push(at);
  found.rotated.sort((a, b) => a.generation - b.generation);
  return found;
}

async function asyncFilter<T>(list: readonly T[], keep: (each: T) => Promise<boolean>): Promise<T[]> {
  const kept: T[] = [];
  for (const each of list) if (await keep(each)) kept.push(each);
  return kept;
}

function openNumberedName(disk: Disk, inode: string): string | undefined {
  const found = openNumbered(disk, inode);
  if (found) closeInbox(found.file);
  return found?.name;
}

/** The file, unpacked, if it begins with what was read up to this position. `read`: it has nothing else. */
export async function contentAfter(
  disk: Disk,
  file: RotatedFile,
  at: FinishedFile,
): Promise<RotatedFile | 'read' | undefined> {
  if (!isPacked(file.name))
    return (await withFile(disk, file, false, open => isContinued(open, at))) ? file : undefined;
  if (await isPackedFormOf(disk, file.name, file.inode, at)) return 'read';
  if (!(await isPackedBeginning(disk, file.name, file.inode, at.head))) return undefined;
  const readable = await unpacked(disk, file);
  return readable && (await withFile(disk, readable, false, open => isContinued(open, at))) ? readable : undefined;
}

function isComplete(disk: Disk, file: RotatedFile, at: FinishedFile): Promise<boolean> {
  if (isPacked(file.name)) return isPackedFormOf(disk, file.name, file.inode, at);
  return withFile(disk, file, false, open => open.size === at.offset && isContinued(open, at));
}

/** Whether the inbox file begins with all that this file has. */
function isCopyOf(disk: Disk, file: RotatedFile, open: OpenInbox): Promise<boolean> {
  if (isPacked(file.name) || file.size > open.size) return Promise.resolve(false);
  return withFile(disk, file, false, copy => isContinued(open, {offset: copy.size, ...marksOf(copy.file, copy.size)}));
}

async function unpacked(disk: Disk, {name, inode}: RotatedFile): Promise<RotatedFile | undefined> {
  const made = await unpack(disk, name, inode);
  const stat = made === undefined ? undefined : disk.stat(`inbox/${made}`);
  return made !== undefined && stat && stat.size > 0n ? rotatedFile(made, stat) : undefined;
}

/** The position of an unread rotated file. */
export function unreadPosition(disk: Disk, file: RotatedFile, generation: number): Promise<Position> {
  const at = {inode: file.inode, generation, offset: 0, line: 0, head: '', tail: ''};
  return withFile(disk, file, at, open => ({...at, head: marksOf(open.file, open.size).head}));
}

/** How to recognise a rotated file that has nothing to read. */
export function finishedFile(disk: Disk, file: RotatedFile): Promise<FinishedFile | undefined> {
  return withFile(disk, file, undefined, open => finishedAt(open, file.name));
}

export function finishedAt({file, inode, size}: OpenInbox, name: string): FinishedFile {
  return {inode: packedInode(name) ?? inode, offset: size, ...marksOf(file, size)};
}

/** Use a rotated file under its current name. `none`: the result if the file is gone. */
export async function withFile<T>(
  disk: Disk,
  {inode, name}: Pick<RotatedFile, 'inode' | 'name'>,
  none: T,
  use: (open: OpenInbox) => T | Promise<T>,
): Promise<T> {
  const {file} = openNumbered(disk, inode, name) ?? {};
  if (!file) return none;
  try {
    return await use(file);
  } finally {
    closeInbox(file);
  }
}

/**
 * Whether a rotated file may have lines for an inbox that has no cursor yet: it was written since the home was first served.
 * Older files are logs that nobody asked to read.
 */
export function isFromServedTime({servedSince}: Inboxes, {written}: Pick<RotatedFile, 'written'>): boolean {
  return written >= servedSince;
}

/**
 * Inboxes whose file was created and rotated before the daemon saw it. Inboxes from earlier runs are included once, because another file
 * may have come and gone since.
 */
export function unseenInboxes({files, inboxes}: With<'files' | 'inboxes'>): string[] {
  const {disk} = files;
  const present = readableFiles(disk);
  const paths = new Set<string>();
  for (const [file, stat] of present) {
    const [, name = '', suffix = ''] = /^(.+\.jsonl)(.+)$/.exec(file) ?? [];
    const path = `inbox/${name}`;
    if (!SUFFIX.test(suffix) || present.has(name) || inboxes.get(path)?.cursor) continue;
    if (disk.exists(cursorPath(path)) || isFromServedTime(inboxes, rotatedFile(file, stat))) paths.add(path);
  }
  return [...paths];
}

/** Empty if the folder is not readable: the scan reports that. */
function readableFiles(disk: Disk): Map<string, FileStat> {
  try {
    return listInbox(disk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    return new Map();
  }
}

/** Names in `inbox/` that may be copies of this inbox, also under names that are inboxes themselves or of other forms. */
export function possibleCopies(disk: Disk, inbox: string): RotatedFile[] {
  const stem = stemOf(inbox);
  return [...inboxFiles(disk)]
    .filter(([name]) => name !== inbox && name.startsWith(stem))
    .filter(([name]) => !kindOf(`inbox/${name}`) || isRotatedName(stem, name))
    .map(([name, stat]) => rotatedFile(name, stat));
}
