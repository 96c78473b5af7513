import {statfs} from 'node:fs/promises';
import {totalmem} from 'node:os';
import {type ControlGroup, type Controller, makeGroup} from './control-groups.ts';

/** What the programs of a run in the sandbox may use together. */
export interface CommandLimits {
  memoryBytes: number;
  /** Processes and threads. */
  processes: number;
  /** How much may be written to the workspace. */
  diskBytes: number;
}

const MB = 1024 * 1024;

/** `limits.commands` in agentdir.yaml, with its defaults. */
export function commandLimits(
  set: {memory_mb?: number | undefined; processes?: number | undefined; disk_mb?: number | undefined} = {},
): CommandLimits {
  return {
    memoryBytes: set.memory_mb === undefined ? Math.min(4096 * MB, Math.floor(totalmem() / 2)) : set.memory_mb * MB,
    processes: set.processes ?? 1024,
    diskBytes: (set.disk_mb ?? 10_240) * MB,
  };
}

/** Limits in force for one run. */
export interface LimitedRun {
  /** Words before those that start the sandbox: they join the control group. */
  outside: readonly string[];
  /** Words before the program, inside: they set the limits of each process. */
  inside: readonly string[];
  /** What the programs exceeded, in words. */
  exceeded: () => string[];
  /** Call when all processes have ended. Clears up in the background. */
  end: () => void;
}

/** Joins each group up to the word `--`. */
const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 126; shift; done; shift; exec "$@"';

/** Words before those that start a program: they join these control groups. */
export function joining(groups: readonly string[]): string[] {
  return ['/bin/sh', '-c', JOIN, 'sh', ...groups, '--'];
}

/**
 * Set inside, because outside the other processes of the user would count. Shells name that option differently. `$1`:
 * size of a file, in blocks of 512 bytes; `$2`: kilobytes of data; `$3`: processes.
 */
const LIMIT = `ulimit -c 0
ulimit -f "$1" 2>/dev/null
ulimit -d "$2" 2>/dev/null
ulimit -u "$3" 2>/dev/null || ulimit -p "$3" 2>/dev/null
shift 3
exec "$@"`;

/**
 * A control group bounds the run as a whole. Where there is none, each process has its own limit of memory, and
 * processes are counted by user, which does not bind root. A few programs that only read need no group: to join one takes
 * some milliseconds, because the kernel waits for all processors.
 */
export function limitRun(limits: CommandLimits, needsGroup: boolean): LimitedRun {
  const group: ControlGroup | undefined = needsGroup ? makeGroup(limits) : undefined;
  const controls: ReadonlySet<Controller> = group?.controls ?? new Set();
  const blocks = Math.ceil(limits.diskBytes / 512);
  const kilobytes = controls.has('memory') ? 'unlimited' : Math.ceil(limits.memoryBytes / 1024);
  const processes = controls.has('pids') ? 'unlimited' : limits.processes;
  return {
    outside: group ? joining(group.joins) : [],
    inside: ['/bin/sh', '-c', LIMIT, 'sh', `${blocks}`, `${kilobytes}`, `${processes}`],
    exceeded: () =>
      (group?.exceeded() ?? []).map(each =>
        each === 'memory'
          ? `it needed more than ${Math.round(limits.memoryBytes / MB)} MB of memory (limits.commands.memory_mb)`
          : `it wanted more than ${limits.processes} processes (limits.commands.processes)`,
      ),
    end: () => void group?.remove(),
  };
}

const LOOK_MS = 250;
/** How many files a run may add. */
const MOST_FILES = 1_000_000;

/** What statfs tells; some file systems tell no numbers. */
interface Space {
  bavail: number;
  bsize: number;
  blocks: number;
  ffree: number;
  files: number;
}

/** Free bytes and files of which a run leaves the rest: what was free at its start, less its limit, or less nine tenths. */
export function leastSpace({bavail, bsize, blocks, ffree, files}: Space, {diskBytes}: CommandLimits) {
  const free = bavail * bsize;
  return {
    bytes: blocks === 0 ? 0 : free - Math.min(diskBytes, 0.9 * free),
    files: files === 0 ? 0 : ffree - Math.min(MOST_FILES, 0.9 * ffree),
  };
}

/**
 * Calls `full` when free bytes or files of the file system have shrunk below the least. Writes of other programs count
 * too. Returns how to stop watching.
 */
export function watchSpace(folder: string, limits: CommandLimits, full: () => void): () => void {
  let least: ReturnType<typeof leastSpace> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const look = async (): Promise<void> => {
    const space = await statfs(folder);
    if (over) return;
    least ??= leastSpace(space, limits);
    if (space.bavail * space.bsize < least.bytes || space.ffree < least.files) return full();
    timer = setTimeout(again, LOOK_MS);
  };
  const again = (): void => void look().catch(() => {});
  again();
  return () => {
    over = true;
    clearTimeout(timer);
  };
}
