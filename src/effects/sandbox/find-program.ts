import {accessSync, constants, realpathSync, statSync} from 'node:fs';
import {dirname, isAbsolute, join, resolve} from 'node:path';
import {systemPath} from './environment.ts';
import {within} from './profile.ts';
import {systemMounts} from './system-mounts.ts';

export interface FoundProgram {
  /** Absolute, as found; this path is started. */
  place: string;
  /** Absolute, links resolved. */
  path: string;
  /** An agent can write it: it lies in the home, the workspace, or a world-writable folder. */
  unsafe: boolean;
  /** A folder, or a file that is not executable. */
  notExecutable: boolean;
}

export interface ProgramSearch {
  home: string;
  workspace: string;
  confined: boolean;
}

/** The daemon's PATH at startup: host programs such as docker may be there. */
const startPath = (process.env.PATH ?? '').split(':').filter(folder => isAbsolute(folder));

/**
 * Search a fixed PATH; a name with a slash is relative to the workspace. On the host the daemon's own PATH follows,
 * without folders in the home and folders that others may write. In the sandbox only visible programs are found.
 */
export function findProgram(name: string, where: ProgramSearch): FoundProgram | undefined {
  if (name === '' || name.includes('\0')) return undefined;
  if (name.includes('/')) return look(resolve(where.workspace, name), where);
  let second: FoundProgram | undefined;
  for (const folder of programFolders(where)) {
    const found = look(join(folder, name), where);
    if (found && !found.notExecutable) return found;
    second ??= found;
  }
  return second;
}

/** PATH of a program, confined or on the host. */
export function programFolders({home, confined}: Omit<ProgramSearch, 'workspace'>): readonly string[] {
  if (confined) return systemPath;
  const ours = real(home) ?? home;
  const system: readonly string[] = systemPath;
  const isSafe = (folder: string) => !within(real(folder) ?? folder, ours) && !writableByOthers(folder);
  return [...system, ...startPath.filter(folder => !system.includes(folder) && isSafe(folder))];
}

/** Whether agents could write a path, or create a file there. */
export function isUnsafe(path: string, where: ProgramSearch): boolean {
  const place = resolve(where.workspace, path);
  if ([where.home, where.workspace].some(folder => within(place, folder))) return true;
  return look(place, where)?.unsafe ?? false;
}

function look(place: string, where: ProgramSearch): FoundProgram | undefined {
  const path = real(place);
  const stat = path === undefined ? undefined : statSync(path, {throwIfNoEntry: false});
  if (path === undefined || !stat) return undefined;
  if (where.confined && !visible(path, where)) return undefined;
  return {place, path, unsafe: unsafe(path, where), notExecutable: !stat.isFile() || !executable(path)};
}

/** The sandbox contains the system folders and the workspace. */
function visible(path: string, where: ProgramSearch): boolean {
  const workspace = real(where.workspace) ?? where.workspace;
  if (within(path, workspace)) return true;
  if (within(path, real(where.home) ?? where.home)) return false;
  return systemMounts(false).roots.some(root => within(path, root));
}

function unsafe(path: string, where: ProgramSearch): boolean {
  if ([where.home, where.workspace].some(folder => within(path, real(folder) ?? folder))) return true;
  // A user who can write a parent folder can replace the program.
  for (let at = path; at !== '/'; at = dirname(at)) if ((statSync(at).mode & 0o002) !== 0) return true;
  return false;
}

function writableByOthers(path: string): boolean {
  const stat = statSync(path, {throwIfNoEntry: false});
  if (!stat) return true;
  const ours = stat.uid === 0 || stat.uid === process.getuid?.();
  const group = (stat.mode & 0o020) !== 0 && stat.gid !== 0 && stat.gid !== process.getgid?.();
  return !ours || group || (stat.mode & 0o002) !== 0;
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function real(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
