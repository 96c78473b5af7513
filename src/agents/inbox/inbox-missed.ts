import {kindOf} from '../../formats/common/key.ts';
import {cursorPath, type Position} from '../../formats/cursor-file.ts';
import {shortHash} from '../../formats/inbox-message.ts';
import type {Disk, FileStat} from '../../home/disk/disk.ts';
import {inboxFiles, listInbox, openNumbered} from '../../home/inbox-files.ts';
import {closeInbox, type OpenInbox, readLines} from '../../home/inbox-lines.ts';
import {packedName} from '../../home/unpack-inbox.ts';
import type {Inboxes} from '../state/inboxes.ts';
import type {With} from '../state/parts.ts';
import {linesDelivered} from './lines-found.ts';

/** What a rotation puts between the name and its ending, or behind both. */
const SUFFIX = /^[-_.]?\d[\dTZ_.:-]*$/;

/** A file by its number, and the name it had when it was found. */
export interface NumberedFile {
  inode: string;
  file: string;
}

/** slack-20261117.jsonl, slack.1.jsonl: of slack.jsonl. */
export function isRotatedName(stem: string, name: string): boolean {
  return name.startsWith(stem) && name.endsWith('.jsonl') && SUFFIX.test(name.slice(stem.length, -'.jsonl'.length));
}

/**
 * Files that had the name after the last of those that are known, and were renamed or copied before anybody looked: such as are
 * newer, oldest first. One with lines that were delivered from those is a copy. What a daemon delivered of it that was killed before it
 * wrote that down is in sessions, by the same ids. If none is known: those that were made while the home was served; older ones are
 * logs that nobody asked to be read. `open`: the file that had the name when it was opened.
 */
export async function missedFiles(
  {files, inboxes}: With<'files' | 'inboxes'>,
  name: string,
  known: readonly Position[],
  open?: OpenInbox,
): Promise<NumberedFile[]> {
  const {disk} = files;
  const present = inboxFiles(disk);
  const all = [...present].map(([file, stat]) => ({file, inode: `${stat.ino}`, at: timesOf(file, stat)}));
  // Renamed since it was opened, it is still the next to be read: what came after it comes after it.
  const isOpen = (inode: string, {born}: Times) =>
    open !== undefined &&
    (inode === open.inode || (present.get(name)?.ino !== open.stat.ino && born > open.stat.birthtimeNs));
  const last = all.find(({inode}) => inode === known.at(-1)?.inode);
  const newer = all
    .filter(({file}) => file.startsWith(name) && !kindOf(`inbox/${file}`))
    .filter(({file}) => SUFFIX.test((packedName(file) ?? file).slice(name.length)))
    .filter(({inode, at}) => !known.some(each => each.inode === inode) && !isOpen(inode, at))
    .filter(({at}) => (known.length === 0 ? isNew(at, inboxes) : last && isNewer(at, last.at)))
    .sort((a, b) => (a.at.written < b.at.written ? -1 : 1));
  if (newer.length === 0) return [];
  const {lines} = await linesDelivered(disk, name, {since: 1, upTo: known.at(-1)?.generation ?? 0});
  const found: NumberedFile[] = [];
  for (const {file, inode} of newer)
    if (!(await hasLines(disk, {inode, file}, hash => lines.has(hash)))) found.push({inode, file});
  return found;
}

interface Times {
  born: bigint;
  written: bigint;
}

const isNewer = (at: Times, than: Times) => at.born >= than.born && at.written >= than.written;

const isNew = (at: Times, {servedSince}: Inboxes) => isNewer(at, {born: servedSince, written: servedSince});

/**
 * Inboxes that came and were renamed before anybody looked: nothing has the name now, and nothing tells of it. Those that were read before
 * this run are looked at once: another may have come and gone since.
 */
export function unseenInboxes({files, inboxes}: With<'files' | 'inboxes'>): string[] {
  const {disk} = files;
  const present = readableFiles(disk);
  const paths = new Set<string>();
  for (const [file, stat] of present) {
    const [, name = '', suffix = ''] = /^(.+\.jsonl)(.+)$/.exec(file) ?? [];
    const path = `inbox/${name}`;
    if (!SUFFIX.test(suffix) || present.has(name) || inboxes.get(path)?.cursor) continue;
    if (disk.exists(cursorPath(path)) || isNew(timesOf(file, stat), inboxes)) paths.add(path);
  }
  return [...paths];
}

/** Of a folder that may not be read the scan tells. */
function readableFiles(disk: Disk): Map<string, FileStat> {
  try {
    return listInbox(disk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    return new Map();
  }
}

function timesOf(file: string, stat: FileStat): Times {
  // One that was unpacked is older than that.
  return {born: packedName(file) === undefined ? stat.birthtimeNs : 0n, written: stat.mtimeNs};
}

/** Whether some of the first lines of this file are among these. */
export async function hasLines(
  disk: Disk,
  {inode, file: had}: NumberedFile,
  isKnown: (hash: string) => boolean,
): Promise<boolean> {
  const {file} = openNumbered(disk, inode, had) ?? {};
  if (!file) return true;
  try {
    const {lines} = await readLines(file, 0, {holes: true});
    return lines.some(({bytes}) => isKnown(shortHash(bytes)));
  } finally {
    closeInbox(file);
  }
}
