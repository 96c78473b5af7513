import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import {setImmediate as nextTurn, setTimeout as pause} from 'node:timers/promises';
import {markMount, markName} from './environment.ts';

/** A process that has ended and is not yet waited for counts as gone: in containers nobody may ever wait. */
export function isProcessAlive(pid: number): boolean {
  if (!signal(pid, 0)) return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT' || !hasProc();
  }
}

/** Whether any process of the group lives. Where files are short and nobody can look, the group counts as alive. */
export function isGroupAlive(group: number): boolean {
  if (!signal(-group, 0)) return false;
  try {
    if (!hasProc()) return true;
    return pids().some(pid => groupOf(pid) === group && isProcessAlive(pid));
  } catch {
    return true;
  }
}

/** False: there is no such process or group, or it is not ours. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Living processes whose environment has this mark. Empty where there is no /proc. Throws if a process could not be
 * looked at for want of file descriptors or memory: it may be one of them.
 */
export function markedProcesses(mark: string): Promise<number[]> {
  const wanted = Buffer.from(`${markName}=${mark}\0`);
  return those('environ', environ => {
    const at = environ.indexOf(wanted);
    return at === 0 || (at > 0 && environ[at - 1] === 0);
  });
}

/** Living processes inside a sandbox of this mark, whatever they did to their environment. Throws as `markedProcesses` does. */
export function sandboxedAs(mark: string): Promise<number[]> {
  const wanted = Buffer.from(` ${markMount(mark)} `);
  return those('mountinfo', mounts => mounts.includes(wanted));
}

/** Others are not kept waiting longer than this. */
const SLICE_MS = 8;

/** Living processes of which a file in /proc tells it. One file is open at a time, however many processes there are. */
async function those(file: string, tells: (content: Buffer) => boolean): Promise<number[]> {
  const found: number[] = [];
  let slice = performance.now();
  for (const pid of pids()) {
    if (pid !== process.pid && tells(await contentOf(pid, file)) && isProcessAlive(pid)) found.push(pid);
    if (performance.now() - slice < SLICE_MS) continue;
    await nextTurn();
    slice = performance.now();
  }
  return found;
}

const FURTHER_TRIES = 20;
const NOTHING = Buffer.alloc(0);

/**
 * A process that is just becoming another program has an empty environment for a moment: wait until it has one. A few
 * have none for good; those of the kernel have no program either. Empty if the process is gone, or another user's.
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

/** Too few file descriptors or too little memory: what was to be read may well be there. */
function isShortage(error: unknown): boolean {
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
