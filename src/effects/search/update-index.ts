import type {Stats} from 'node:fs';
import {isFailure} from '../tool/failure.ts';
import {pace} from '../tool/pace.ts';
import type {ToolContext, ToolFailure} from '../tool/tool.ts';
import {closeFolder, type Folder, openFolder, writtenRoot} from '../workspace/folder.ts';
import {fileTypeAt, glance, lookAt} from '../workspace/open-file.ts';
import type {ToolPath} from '../workspace/place.ts';
import {type WalkResult, walkFolder} from '../workspace/walk.ts';
import {type FileIndex, forget, type IndexedFile, readInto} from './file-index.ts';

export interface IndexUpdate extends WalkResult {
  files: number;
  binary: number;
  large: number;
  /** Number of files for which the index has no room. */
  full: number;
  /** Number of files that there was no time to read. */
  unread: number;
}

/** Longest time that a call reads files; the next call continues. */
const LONGEST_READING_MS = 10_000;

/** Forget vanished files, so that moved folders have room, then read changed ones. Continues where it was stopped. */
export async function updateIndex(
  index: FileIndex,
  context: ToolContext,
  place: ToolPath,
): Promise<IndexUpdate | ToolFailure> {
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
    // A known file only needs a stat; reading it later opens it without following links.
    const stat = known ? glance(`${root}/${path}`) : lookAt(folder, name);
    if (!stat?.isFile()) return true;
    if (known) known.seen = look;
    if (!known?.settled || !isSame(known, stat)) changed.push(parts);
    else if (known.left === 'full') full.push(known);
    else count(known);
    return true;
  };
  const kind = fileTypeAt(context, place);
  if (isFailure(kind)) return kind;
  const walked = await (kind === 'file' ? visitFile(context, place, visit) : visitFolder(context, place, visit));
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
  // One small file reads quickly, a thousand do not.
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

/** Undefined: the file is gone or unreadable. */
async function readAt(
  index: FileIndex,
  context: ToolContext,
  place: ToolPath,
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

/** Ignore files do not apply to a file that is named itself. */
async function visitFile(context: ToolContext, place: ToolPath, visit: Visit): Promise<WalkResult | ToolFailure> {
  const folder = openFolder(context, place, place.parts.slice(0, -1));
  if (isFailure(folder)) return folder;
  try {
    visit(folder, place.parts.at(-1) ?? '', place.parts);
  } finally {
    closeFolder(folder);
  }
  return {ignored: 0, hidden: 0};
}

function visitFolder(context: ToolContext, place: ToolPath, visit: Visit): Promise<WalkResult | ToolFailure> {
  return walkFolder(context, place, {
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
