import {lstatSync, readFileSync, realpathSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import type {Bubblewrap} from './bubblewrap.ts';
import {coverDevices} from './devices.ts';
import {confinedHome, markMount} from './environment.ts';
import {linkText} from './link-text.ts';
import {procCovers, systemMounts} from './system-mounts.ts';

/** What a confined program may have. */
export interface Confinement {
  home: string;
  workspace: string;
  readOnly: boolean;
  hidden?: string | undefined;
  network: boolean;
  mark: string;
}

const scratchBytes = String(512 * 1024 * 1024);
const sharedMemoryBytes = String(64 * 1024 * 1024);
const noBytes = '4096';

/**
 * Bubblewrap's arguments up to the command: a system made from nothing, in which only the workspace is the machine's
 * own. Everything else that can be written is in memory and bounded. Or why it cannot be made.
 */
export function profile(wanted: Confinement, bubblewrap: Bubblewrap): {args: string[]} | {problem: string} {
  const place = realWorkspace(wanted);
  if ('problem' in place) return place;
  const {home, workspace} = place;
  const system = systemMounts(wanted.network);
  if ([...system.roots, '/proc', '/dev', '/etc', '/tmp'].some(root => within(root, home)))
    return {problem: `the home ${home} holds a part of the system`};
  return {
    args: [
      ...['--unshare-all', ...(wanted.network ? ['--share-net'] : [])],
      ...(bubblewrap.disableUserns ? ['--unshare-user', '--disable-userns'] : []),
      ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', 'sandbox'],
      ...system.args,
      // The first process is bubblewrap, of the same user: whoever writes its memory could make it outlive the daemon.
      ...['--proc', '/proc', ...procCovers(), ...['--size', noBytes, '--tmpfs', '/proc/1', '--remount-ro', '/proc/1']],
      ...['--dev', '/dev', ...(bubblewrap.deviceCopies ? coverDevices() : [])],
      ...['--size', sharedMemoryBytes, '--perms', '1777', '--tmpfs', '/dev/shm'],
      ...['--size', scratchBytes, '--perms', '1777', '--tmpfs', '/tmp', '--perms', '0700', '--dir', confinedHome],
      ...['--size', noBytes, '--tmpfs', markMount(wanted.mark), '--remount-ro', markMount(wanted.mark)],
      // Inside a folder that is mounted, the rest of the home must not be seen.
      ...(system.roots.some(root => within(home, root)) ? ['--tmpfs', home] : []),
      ...[wanted.readOnly ? '--ro-bind' : '--bind', workspace, workspace],
      ...cover(workspace, wanted.hidden),
      ...history(home, workspace),
      ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', workspace, '--'],
    ],
  };
}

/** As a mount of its own it can be neither looked into, moved away nor removed. In place of a folder nothing else counts. */
function cover(workspace: string, name: string | undefined): string[] {
  const path = name === undefined ? undefined : join(workspace, name);
  if (path === undefined || !lstatSync(path, {throwIfNoEntry: false})?.isDirectory()) return [];
  return ['--size', noBytes, '--tmpfs', path, '--remount-ro', path];
}

/**
 * The git-dir of a workspace lies outside it: the agent may read its history, and only that. Nor may it replace the file
 * that leads there; whatever else is called `.git` is the agent's own.
 */
function history(home: string, workspace: string): string[] {
  const folder = join(home, '.workspaces', `${basename(workspace)}.git`);
  const link = join(workspace, '.git');
  const isOurs = lstatSync(folder, {throwIfNoEntry: false})?.isDirectory();
  const stat = lstatSync(link, {throwIfNoEntry: false});
  const isLink =
    isOurs && stat?.isFile() && stat.size < 4096 && readFileSync(link, 'utf8') === linkText(basename(workspace));
  return [...(isOurs ? ['--ro-bind', folder, folder] : []), ...(isLink ? ['--ro-bind', link, link] : [])];
}

/** Links above the home are followed; from the home down there must be none. */
export function realWorkspace(
  where: Pick<Confinement, 'home' | 'workspace'>,
): {home: string; workspace: string} | {problem: string} {
  try {
    const home = realpathSync(where.home);
    const workspace = realpathSync(where.workspace);
    if (workspace === home || !within(workspace, home)) return {problem: `${where.workspace} leads out of the home`};
    if (join(realpathSync(dirname(where.workspace)), basename(where.workspace)) !== workspace)
      return {problem: `${where.workspace} is a link`};
    if (!lstatSync(workspace).isDirectory()) return {problem: `${where.workspace} is not a folder`};
    return {home, workspace};
  } catch (error) {
    return {problem: `there is no workspace: ${(error as Error).message}`};
  }
}

/** The path is the folder, or in it. Both absolute, without a slash at the end. */
export function within(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}
