import {closeSync, constants, existsSync, fstatSync, lstatSync, mkdirSync, openSync, readlinkSync} from 'node:fs';
import {isId} from '../../formats/common/values.ts';
import {errorCode, failure, isFailure, systemFailure} from '../tool/failure.ts';
import type {ToolContext, ToolFailure} from '../tool/tool.ts';
import {isGitName} from './git-name.ts';
import {shownPath, type ToolPath} from './place.ts';

/**
 * An open directory. Entries are reached through its descriptor, so that renaming or linking anything above it has no
 * effect. Without /proc they are reached by path, and every component is compared before and after use: that makes a
 * race hard to win, not impossible.
 */
export interface Folder {
  fd: number;
  path: string;
  /** Only without /proc: the directories above, for comparison. */
  trail: readonly {path: string; dev: number; ino: number}[];
}

const DESCRIPTORS = '/proc/self/fd';
const OPEN_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Whether directories are reached by descriptor; tests try both. */
export const byDescriptor = existsSync(DESCRIPTORS);

export function closeFolder(folder: Folder): void {
  closeSync(folder.fd);
}

/** Path of an entry. Open it with O_NOFOLLOW. */
export function entryOf(folder: Folder, name: string): string {
  assertInPlace(folder);
  return `${folder.path}/${name}`;
}

/** Throws ESTALE if a directory on the path was replaced since it was opened. Call it again after each use. */
export function assertInPlace(folder: Folder): void {
  for (const {path, dev, ino} of folder.trail) {
    const now = lstatSync(path, {throwIfNoEntry: false});
    if (now?.dev !== dev || now.ino !== ino) throw Object.assign(new Error('replaced'), {code: 'ESTALE'});
  }
}

/** Number of checks: an attacker who swaps folders and links would have to win each time. */
const CONFIRMATIONS = 5;

/** Throws ESTALE unless `name` still is the opened file, by a path without links. */
export function confirm(folder: Folder, name: string, fd: number): void {
  if (folder.path.startsWith(`${DESCRIPTORS}/`)) return;
  const {dev, ino} = fstatSync(fd);
  for (let i = 0; i < CONFIRMATIONS; i++)
    assertInPlace({...folder, trail: [...folder.trail, {path: `${folder.path}/${name}`, dev, ino}]});
}

/** The path of the home may contain links: a person chose it. */
function openHome(home: string, descriptors = byDescriptor): Folder {
  const fd = openSync(home, constants.O_RDONLY | constants.O_DIRECTORY);
  if (descriptors) return {fd, path: `${DESCRIPTORS}/${fd}`, trail: []};
  return {fd, path: home, trail: []};
}

/** Open a directory in `folder`, which stays open. Throws system errors; a link gives ELOOP or ENOTDIR. */
export function openBelow(folder: Folder, name: string, make = false): Folder {
  const path = entryOf(folder, name);
  let fd: number;
  try {
    fd = openSync(path, OPEN_FOLDER);
  } catch (error) {
    if (!make || errorCode(error) !== 'ENOENT') throw error;
    try {
      mkdirSync(path);
    } catch (again) {
      if (errorCode(again) !== 'EEXIST') throw again;
    }
    fd = openSync(path, OPEN_FOLDER);
  }
  if (folder.path.startsWith(`${DESCRIPTORS}/`)) return {fd, path: `${DESCRIPTORS}/${fd}`, trail: []};
  try {
    confirm(folder, name, fd);
    const {dev, ino} = fstatSync(fd);
    return {fd, path, trail: [...folder.trail, {path, dev, ino}]};
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Names from the home down to a root's directory. The workspace is created on first use. */
function stepsTo(place: ToolPath, agent: string): string[] {
  return place.root === 'workspace' ? ['workspaces', agent] : [place.root];
}

/** Plain path of a place's root. Twice as fast as a descriptor, but may go through links: use it for stats only. */
export function writtenRoot({home, agent}: Pick<ToolContext, 'home' | 'agent'>, place: ToolPath): string {
  return [home, ...stepsTo(place, agent)].join('/');
}

export interface OpenOptions {
  make?: boolean;
  descriptors?: boolean;
  /** Called with each directory on the path, from the root on; the directory is open only during the call. */
  entered?: (folder: Folder) => void;
}

/** Open the directory with these components below the place's root. */
export function openFolder(
  context: Pick<ToolContext, 'home' | 'agent'>,
  place: ToolPath,
  parts: readonly string[] = place.parts,
  {make = false, descriptors = byDescriptor, entered}: OpenOptions = {},
): Folder | ToolFailure {
  const {agent} = context;
  if (!isWorkspaceName(agent)) return failure('FAILED', 'there is no workspace for an agent of this name');
  const base = stepsTo(place, agent);
  let folder: Folder;
  try {
    folder = openHome(context.home, descriptors);
  } catch (error) {
    return systemFailure(error, 'the home');
  }
  const steps = [...base, ...parts];
  for (const [i, name] of steps.entries()) {
    try {
      if (i >= base.length) entered?.(folder);
      const below = openBelow(folder, name, make || (place.root === 'workspace' && i < base.length));
      closeFolder(folder);
      folder = below;
    } catch (error) {
      const shown =
        i < base.length ? base.slice(0, i + 1).join('/') : shownPath(place.root, parts.slice(0, i - base.length + 1));
      const found = refusedEntry(folder, name, shown, 'directory') ?? systemFailure(error, shown);
      closeFolder(folder);
      return found;
    }
  }
  return folder;
}

/** Like `openFolder`; undefined if the directory or one above it does not exist. */
export function openIfThere(
  context: ToolContext,
  place: ToolPath,
  parts: readonly string[] = place.parts,
): Folder | ToolFailure | undefined {
  let missing = false;
  const names = [...parts];
  const entered = (folder: Folder): void => {
    missing = lstatSync(entryOf(folder, names.shift() ?? ''), {throwIfNoEntry: false}) === undefined;
  };
  const opened = openFolder(context, place, parts, {entered});
  return missing && isFailure(opened) ? undefined : opened;
}

/** `coder`, or `coder@pr-123` in a workflow instance: a single directory name. */
export function isWorkspaceName(agent: string): boolean {
  const parts = agent.split('@');
  return parts.length <= 2 && parts.every(isId) && !isGitName(agent);
}

/** Explain why an entry is not what was asked for; undefined if that is unknown. */
export function refusedEntry(
  folder: Folder,
  name: string,
  shown: string,
  wanted: 'directory' | 'file',
): ToolFailure | undefined {
  try {
    const path = entryOf(folder, name);
    const stat = lstatSync(path, {throwIfNoEntry: false});
    if (!stat) return undefined;
    if (stat.isSymbolicLink()) {
      const target = readlinkSync(path);
      const where = target.startsWith('/') ? 'elsewhere' : `to ${target}`;
      return failure('DENIED', `${shown} is a symbolic link (${where}); links are not followed: name what it leads to`);
    }
    if (stat.isDirectory()) return wanted === 'directory' ? undefined : failure('FAILED', `${shown} is a directory`);
    if (stat.isFile()) return wanted === 'file' ? undefined : failure('FAILED', `${shown} is a file, not a directory`);
    return failure('DENIED', `${shown} is not a regular file, but a device, pipe or socket`);
  } catch {
    return undefined;
  }
}
