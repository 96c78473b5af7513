import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {setTimeout as pause} from 'node:timers/promises';
import {markMount, markName} from './environment.ts';

/** A process that has ended and is not yet waited for counts as gone: in containers nobody may ever wait. */
export function isAlive(pid: number): boolean {
  if (!signal(pid, 0)) return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT' || !hasProc();
  }
}

/** Whether any process of the group lives. */
export function isGroupAlive(group: number): boolean {
  if (!signal(-group, 0)) return false;
  if (!hasProc()) return true;
  return pids().some(pid => groupOf(pid) === group && isAlive(pid));
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

/** Living processes whose environment has this mark. Empty where there is no /proc. */
export function marked(mark: string): Promise<number[]> {
  const wanted = Buffer.from(`${markName}=${mark}\0`);
  return those('environ', environ => {
    const at = environ.indexOf(wanted);
    return at === 0 || (at > 0 && environ[at - 1] === 0);
  });
}

/** Living processes inside a sandbox of this mark, whatever they did to their environment. */
export function sandboxedAs(mark: string): Promise<number[]> {
  const wanted = Buffer.from(` ${markMount(mark)} `);
  return those('mountinfo', mounts => mounts.includes(wanted));
}

/** Living processes of which a file in /proc tells it. */
async function those(file: string, tells: (content: Buffer) => boolean): Promise<number[]> {
  const found = await Promise.all(
    pids().map(async pid => {
      try {
        return tells(await contentOf(pid, file)) ? [pid] : [];
      } catch {
        return []; // gone, or another user's
      }
    }),
  );
  return found.flat().filter(pid => pid !== process.pid && isAlive(pid));
}

const FURTHER_TRIES = 20;

/**
 * A process that is just becoming another program has an empty environment for a moment: wait until it has one. A few
 * have none for good; those of the kernel have no program either.
 */
async function contentOf(pid: number, file: string): Promise<Buffer> {
  let content = await readFile(`/proc/${pid}/${file}`);
  for (let tries = 0; content.length === 0 && tries < FURTHER_TRIES && hasProgram(pid); tries++) {
    await pause(1);
    content = await readFile(`/proc/${pid}/${file}`);
  }
  return content;
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
  } catch {
    return undefined;
  }
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function hasProc(): boolean {
  return pids().length > 0;
}
