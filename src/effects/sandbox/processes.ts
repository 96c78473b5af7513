import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import {setImmediate as nextTurn, setTimeout as pause} from 'node:timers/promises';
import {markMount, markName} from './environment.ts';

/** Zombies count as gone: in containers nobody may ever wait for them. */
export function isProcessAlive(pid: number): boolean {
  if (!signal(pid, 0)) return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT' || !hasProc();
  }
}

/** Whether any process of the group is alive. True if a shortage of file descriptors prevents looking. */
export function isGroupAlive(group: number): boolean {
  if (!signal(-group, 0)) return false;
  try {
    if (!hasProc()) return true;
    return pids().some(pid => groupOf(pid) === group && isProcessAlive(pid));
  } catch {
    return true;
  }
}

/** False: no such process or group. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Live processes with this mark in their environment. Empty without /proc. Throws if it cannot look at a process. */
export function markedProcesses(mark: string): Promise<number[]> {
  const wanted = Buffer.from(`${markName}=${mark}\0`);
  return processesWhere('environ', environ => {
    const at = environ.indexOf(wanted);
    return at === 0 || (at > 0 && environ[at - 1] === 0);
  });
}

/** Live processes in a sandbox with this mark, whatever their environment. Throws like `markedProcesses`. */
export function sandboxedAs(mark: string): Promise<number[]> {
  const wanted = Buffer.from(` ${markMount(mark)} `);
  return processesWhere('mountinfo', mounts => mounts.includes(wanted));
}

/** Maximum time between yields to the event loop. */
const SLICE_MS = 8;

/** Live processes whose /proc file matches. Opens one file at a time. */
async function processesWhere(file: string, matches: (content: Buffer) => boolean): Promise<number[]> {
  const found: number[] = [];
  let slice = performance.now();
  for (const pid of pids()) {
    if (pid !== process.pid && matches(await contentOf(pid, file)) && isProcessAlive(pid)) found.push(pid);
    if (performance.now() - slice < SLICE_MS) continue;
    await nextTurn();
    slice = performance.now();
  }
  return found;
}

const FURTHER_TRIES = 20;
const NOTHING = Buffer.alloc(0);

/**
 * Retry while the file is empty: during an exec a process has an empty environment for a moment. Some processes keep
 * none; kernel threads also have no program. Empty if the process is gone or belongs to another user.
 */
async function contentOf(pid: number, file: string): Promise<Buffer> {
  for (let tries = 0; ; tries++) {
    try {
      const content = readFileSync(`/proc/${pid}/${file}`);
      if (content.length > 0 || tries === FURTHER_TRIES || !hasProgram(pid)) return content;
    } catch (error) {
      if (isShortage(error)) throw error;
      return NOTHING;
    }
    await pause(1);
  }
}

/** Too few file descriptors or too little memory: the file may well exist. */
export function isShortage(error: unknown): boolean {
  return /^E(?:MFILE|NFILE|NOMEM|AGAIN)$/.test((error as NodeJS.ErrnoException).code ?? '');
}

function hasProgram(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) !== '';
  } catch {
    return false;
  }
}

function groupOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
  } catch (error) {
    if (isShortage(error)) throw error;
    return undefined;
  }
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .map(Number);
  } catch (error) {
    if (isShortage(error)) throw error;
    return [];
  }
}

let proc: boolean | undefined;

function hasProc(): boolean {
  proc ??= pids().length > 0;
  return proc;
}
