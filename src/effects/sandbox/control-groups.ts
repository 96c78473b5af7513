import {accessSync, constants, existsSync, readFileSync, rmdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {isProcessAlive, isShortage, signal} from './processes.ts';
import {abandonedScratch, isLabelled, scratchFolder} from './scratch.ts';

/** What a control group of the kernel can limit. */
export type Controller = 'memory' | 'pids';

/** A place in which control groups can be made, for one controller (version 1) or both (version 2). */
interface GroupPlace {
  folder: string;
  version: 1 | 2;
  controls: readonly Controller[];
}

/** A control group for the processes of one run. */
export interface ControlGroup {
  /** Whoever writes `0` to these files joins. */
  joins: readonly string[];
  controls: ReadonlySet<Controller>;
  /** Which limits the processes have met. */
  exceeded: () => Controller[];
  /** Remove the group; its processes must have ended. */
  remove: () => Promise<void>;
}

/** A control group without limits for what runs on the host: its processes are found however they were started. */
export interface HostGroup {
  joins: readonly string[];
  /** Let them start no others, and kill them. False: one survived. */
  end: () => Promise<boolean>;
}

let places: readonly GroupPlace[] | undefined;

/** Where this process may make control groups; found out once. */
function groupPlaces(): readonly GroupPlace[] {
  if (places) return places;
  places = findPlaces(read('/proc/self/cgroup'), read('/proc/self/mountinfo')).filter(place => isUsable(place));
  // The kernel removes empty groups only: what still runs in others belongs to the next daemon of its home.
  for (const path of abandonedGroups()) tryTo(() => rmdirSync(path));
  return places;
}

/** Groups of daemons that were killed. */
function abandonedGroups(): string[] {
  return groupPlaces().flatMap(({folder}) => abandonedScratch(folder));
}

/**
 * Processes of a call's command in the group of a daemon that was killed, however they were started. From then on they start no
 * others. Throws if a shortage of file descriptors prevents looking.
 */
export function abandonedMembers(mark: string): number[] {
  return abandonedGroups()
    .filter(path => isLabelled(path, labelOf(mark)))
    .flatMap(path => {
      startNoMore(path);
      const members = membersOf(path);
      if (members.length === 0) tryTo(() => rmdirSync(path));
      return members;
    });
}

const labelOf = (mark: string): string => mark.replace(/\W/g, '_');

/** Where a process may start no others, none can escape between two looks. */
function startNoMore(path: string): void {
  tryTo(() => writeFileSync(join(path, 'pids.max'), '0'));
}

/** Live processes of a group. */
function membersOf(path: string): number[] {
  try {
    return readFileSync(join(path, 'cgroup.procs'), 'latin1')
      .split('\n')
      .filter(Boolean)
      .map(Number)
      .filter(isProcessAlive);
  } catch (error) {
    if (isShortage(error)) throw error;
    return [];
  }
}

/** What this machine's control groups can limit for commands in the sandbox. */
export function groupControls(): ReadonlySet<Controller> {
  return new Set(groupPlaces().flatMap(({controls}) => controls));
}

/** Undefined: this process may not make any. */
export function makeGroup(limits: {memoryBytes: number; processes: number}): ControlGroup | undefined {
  const made = groupPlaces().flatMap(place => {
    const path = makeIn(place, limits);
    return path === undefined ? [] : [{...place, path}];
  });
  if (made.length === 0) return undefined;
  return {
    joins: made.map(({path}) => join(path, 'cgroup.procs')),
    controls: new Set(made.flatMap(({controls}) => controls)),
    exceeded: () => made.flatMap(({path, version, controls}) => controls.filter(each => hasMet(path, version, each))),
    remove: async () => {
      for (const {path} of made) await removeGroup(path);
    },
  };
}

/** Undefined: this process may not make any. `mark`: of the call whose programs join it. */
export function makeHostGroup(mark: string): HostGroup | undefined {
  const place = groupPlaces().find(({controls}) => controls.includes('pids'));
  const path = place && makeIn({...place, controls: []}, {label: labelOf(mark)});
  if (path === undefined) return undefined;
  return {
    joins: [join(path, 'cgroup.procs')],
    end: async () => {
      for (let round = 0; round < 200; round++) {
        startNoMore(path);
        const alive = membersOf(path);
        for (const pid of alive) signal(pid, 'SIGKILL');
        if (alive.length === 0) {
          void removeGroup(path);
          return true;
        }
        await pause(Math.min(1 + round, 50));
      }
      return false;
    },
  };
}

function makeIn(
  {folder, version, controls}: GroupPlace,
  {label = '', memoryBytes = 0, processes = 0},
): string | undefined {
  let path: string | undefined;
  try {
    path = scratchFolder(folder, 'group', label);
    if (controls.includes('pids')) writeFileSync(join(path, 'pids.max'), String(processes));
    if (controls.includes('memory')) limitMemory(path, version, String(memoryBytes));
    return path;
  } catch {
    const made = path;
    if (made !== undefined) tryTo(() => rmdirSync(made));
    return undefined;
  }
}

function limitMemory(path: string, version: 1 | 2, bytes: string): void {
  if (version === 2) {
    writeFileSync(join(path, 'memory.max'), bytes);
    tryTo(() => writeFileSync(join(path, 'memory.swap.max'), '0'));
    return;
  }
  writeFileSync(join(path, 'memory.limit_in_bytes'), bytes);
  // Memory and swap together; absent in kernels that do not count swap.
  tryTo(() => writeFileSync(join(path, 'memory.memsw.limit_in_bytes'), bytes));
}

function hasMet(path: string, version: 1 | 2, controller: Controller): boolean {
  const [file, word] =
    controller === 'pids'
      ? ['pids.events', 'max']
      : [version === 2 ? 'memory.events' : 'memory.oom_control', 'oom_kill'];
  return new RegExp(`^${word} [1-9]`, 'm').test(read(join(path, file)));
}

/** The kernel refuses while killed processes are still being cleared away. */
async function removeGroup(path: string): Promise<void> {
  for (let round = 0; round < 100; round++) {
    if (tryTo(() => rmdirSync(path)) || !existsSync(path)) return;
    // A program that ends meanwhile does not wait for it: a later daemon removes it.
    if (round < 20) await pause(Math.min(1 + round, 10));
    else await pause(250, undefined, {ref: false});
  }
}

/** `groups`: /proc/self/cgroup; `mounts`: /proc/self/mountinfo. */
export function findPlaces(groups: string, mounts: string): GroupPlace[] {
  const mounted = mounts.split('\n').flatMap(line => {
    const [, root, at, type, options = ''] = /^\d+ \d+ \S+ (\S+) (\S+) .*? - (cgroup2?) \S+ (\S+)$/.exec(line) ?? [];
    return root === undefined || at === undefined ? [] : [{root, at, type, options: options.split(',')}];
  });
  const own = groups.split('\n').flatMap(line => {
    const [, controllers, path] = /^\d+:([^:]*):(.+)$/.exec(line) ?? [];
    return controllers === undefined || path === undefined ? [] : [{controllers: controllers.split(','), path}];
  });
  const found: GroupPlace[] = [];
  for (const controller of ['memory', 'pids'] as const) {
    const mount = mounted.find(({type, options}) => type === 'cgroup' && options.includes(controller));
    const group = own.find(({controllers}) => controllers.includes(controller));
    if (mount && group) found.push({folder: folderOf(mount, group.path), version: 1, controls: [controller]});
  }
  if (found.length > 0) return found;
  const mount = mounted.find(({type}) => type === 'cgroup2');
  const group = own.find(({controllers}) => controllers.join() === '');
  if (!mount || !group) return [];
  // A group with processes cannot pass controllers on, so look for the nearest group above that does.
  for (let folder = folderOf(mount, group.path); folder.length >= mount.at.length; folder = dirname(folder)) {
    const passed = read(join(folder, 'cgroup.subtree_control')).trim().split(' ');
    const controls = (['memory', 'pids'] as const).filter(each => passed.includes(each));
    if (controls.length > 0) return [{folder, version: 2, controls}];
    if (folder === '/') break;
  }
  return [];
}

function folderOf({root, at}: {root: string; at: string}, path: string): string {
  if (root === '/') return join(at, path);
  return path === root || path.startsWith(`${root}/`) ? join(at, path.slice(root.length)) : at;
}

/** Joining a group needs the right to write the group above both. */
function isUsable({folder}: GroupPlace): boolean {
  return (
    tryTo(() => accessSync(join(folder, 'cgroup.procs'), constants.W_OK)) &&
    tryTo(() => accessSync(folder, constants.W_OK))
  );
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function tryTo(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
