import {lstatSync, readFileSync, realpathSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import type {Bubblewrap} from './bubblewrap.ts';
import {coverDevices} from './devices.ts';
import {confinedHome, markMount} from './environment.ts';
import {procCovers, systemMounts} from './system-mounts.ts';

export interface Confinement {
  home: string;
  workspace: string;
  readOnly: boolean;
  hidden?: string | undefined;
  network: boolean;
  mark: string;
  /** The agent's own repository stands in place of the workspace's history. */
  ownGit?: boolean | undefined;
}

const scratchBytes = String(512 * 1024 * 1024);
const sharedMemoryBytes = String(64 * 1024 * 1024);
const noBytes = '4096';

/**
 * Bubblewrap arguments up to the command: a file system built from scratch, with only the workspace from this machine.
 * All other writable places are in memory and bounded. `problem`: why the sandbox cannot be built.
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
      // Process 1 is bubblewrap, with the same user: a program that writes its memory could make it outlive the daemon.
      ...['--proc', '/proc', ...procCovers(), ...['--size', noBytes, '--tmpfs', '/proc/1', '--remount-ro', '/proc/1']],
      ...['--dev', '/dev', ...(bubblewrap.deviceCopies ? coverDevices() : [])],
      ...['--size', sharedMemoryBytes, '--perms', '1777', '--tmpfs', '/dev/shm'],
      ...['--size', scratchBytes, '--perms', '1777', '--tmpfs', '/tmp', '--perms', '0700', '--dir', confinedHome],
      ...['--size', noBytes, '--tmpfs', markMount(wanted.mark), '--remount-ro', markMount(wanted.mark)],
      // If a mounted folder contains the home, hide the rest of the home.
      ...(system.roots.some(root => within(home, root)) ? ['--tmpfs', home] : []),
      ...[wanted.readOnly ? '--ro-bind' : '--bind', workspace, workspace],
      ...cover(workspace, wanted.hidden),
      ...history(home, workspace, wanted),
      ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', workspace, '--'],
    ],
  };
}

/** Hide a folder under a mount of its own, so that programs cannot read, move or remove it. Ignores non-folders. */
function cover(workspace: string, name: string | undefined): string[] {
  const path = name === undefined ? undefined : join(workspace, name);
  if (path === undefined || !lstatSync(path, {throwIfNoEntry: false})?.isDirectory()) return [];
  return ['--size', noBytes, '--tmpfs', path, '--remount-ro', path];
}

/**
 * The git-dir of a workspace lies outside it. The agent may read its history but not change it, nor replace the `.git`
 * file that leads there. Any other `.git` belongs to the agent. With `ownGit`, the same `.git` file leads to the agent's own
 * repository instead, which it may change; outside the sandbox it leads to the history as ever.
 */
function history(home: string, workspace: string, {ownGit, readOnly}: Confinement): string[] {
  const agent = basename(workspace);
  const folder = join(home, '.workspaces', `${agent}.git`);
  const link = join(workspace, '.git');
  const isFolder = (path: string) => lstatSync(path, {throwIfNoEntry: false})?.isDirectory() === true;
  const isOurs = isFolder(folder);
  const own = ownGit && isFolder(ownGitDir(home, agent)) ? ownGitDir(home, agent) : undefined;
  const stat = lstatSync(link, {throwIfNoEntry: false});
  const isLink = isOurs && stat?.isFile() && stat.size < 4096 && readFileSync(link, 'utf8') === linkText(agent);
  return [
    ...(isOurs ? [own === undefined || readOnly ? '--ro-bind' : '--bind', own ?? folder, folder] : []),
    ...(isLink ? ['--ro-bind', link, link] : []),
  ];
}

/** The git-dir of the repository that an agent has for itself. No git outside the sandbox runs in it. */
export function ownGitDir(home: string, agent: string): string {
  return join(home, '.workspaces/own', `${agent}.git`);
}

/** Content of the `.git` file of a workspace, which makes `git log` work there. */
export function linkText(agent: string): string {
  return `gitdir: ../../.workspaces/${agent}.git\n`;
}

/** Resolve links above the home; from the home down there must be none. */
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

/** Whether a path is the folder or inside it. Both are absolute, without a trailing slash. */
export function within(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}
