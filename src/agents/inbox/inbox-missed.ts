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

/** The part that a rotation adds to a file name, before or after its extension. */
const SUFFIX = /^[-_.]?\d[\dTZ_.:-]*$/;

/** A file by inode, and its name when it was found. */
export interface NumberedFile {
  inode: string;
  file: string;
}

/** Whether the name is a rotation of slack.jsonl, such as slack-20261117.jsonl or slack.1.jsonl. */
export function isRotatedName(stem: string, name: string): boolean {
  return name.startsWith(stem) && name.endsWith('.jsonl') && SUFFIX.test(name.slice(stem.length, -'.jsonl'.length));
}

/**
 * Files that had the name after the last known one and were rotated before the daemon saw them, oldest first. A file with
 * lines that were delivered from known files is a copy and does not count. Without known files, only files created while
 * the home was served count; older ones are logs that nobody asked to read. If the last known file is gone, only files
 * created after the cursor was written count. Lines that a killed daemon had delivered keep their ids, so they are not
 * delivered twice. `open`: the inbox file, as it was opened.
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
  // A file that was renamed after it was opened is still read next, and newer files after it.
  const isOpen = (inode: string, {born}: Times) =>
    open !== undefined &&
    (inode === open.inode || (present.get(name)?.ino !== open.stat.ino && born > open.stat.birthtimeNs));
  const last = all.find(({inode}) => inode === known.at(-1)?.inode);
  const since = known.length === 0 ? servedTimes(inboxes) : (last?.at ?? cursorTimes(disk, name));
  const newer = all
    .filter(({file}) => file.startsWith(name) && !kindOf(`inbox/${file}`))
    .filter(({file}) => SUFFIX.test((packedName(file) ?? file).slice(name.length)))
    .filter(({inode, at}) => !known.some(each => each.inode === inode) && !isOpen(inode, at))
    .filter(({at}) => since && isNewer(at, since))
    .sort((a, b) => Number(a.at.written - b.at.written) || Number(a.at.born - b.at.born));
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

const servedTimes = ({servedSince}: Inboxes): Times => ({born: servedSince, written: servedSince});

/** When the cursor of this inbox was last written. */
function cursorTimes(disk: Disk, name: string): Times | undefined {
  const written = disk.stat(cursorPath(`inbox/${name}`))?.mtimeNs;
  return written === undefined ? undefined : {born: written, written};
}

/**
 * Inboxes whose file was created and renamed before the daemon saw it. Inboxes from earlier runs are included once,
 * because another file may have come and gone since.
 */
export function unseenInboxes({files, inboxes}: With<'files' | 'inboxes'>): string[] {
  const {disk} = files;
  const present = readableFiles(disk);
  const paths = new Set<string>();
  for (const [file, stat] of present) {
    const [, name = '', suffix = ''] = /^(.+\.jsonl)(.+)$/.exec(file) ?? [];
    const path = `inbox/${name}`;
    if (!SUFFIX.test(suffix) || present.has(name) || inboxes.get(path)?.cursor) continue;
    if (disk.exists(cursorPath(path)) || isNewer(timesOf(file, stat), servedTimes(inboxes))) paths.add(path);
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

function timesOf(file: string, stat: FileStat): Times {
  // An unpacked file is older than its creation time.
  return {born: packedName(file) === undefined ? stat.birthtimeNs : 0n, written: stat.mtimeNs};
}

/** Whether any of the first lines of this file is known, or the file is gone. */
export async function hasLines(
  disk: Disk,
  {inode, file: name}: NumberedFile,
  isKnown: (hash: string) => boolean,
): Promise<boolean> {
  const {file} = openNumbered(disk, inode, name) ?? {};
  if (!file) return true;
  try {
    const {lines} = await readLines(file, 0, {holes: true});
    return lines.some(({bytes}) => isKnown(shortHash(bytes)));
  } finally {
    closeInbox(file);
  }
}
