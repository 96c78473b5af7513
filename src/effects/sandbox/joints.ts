import {spawn} from 'node:child_process';
import {closeSync, constants, openSync, readlinkSync} from 'node:fs';
import {makePipes} from './pipes.ts';

export interface Joint {
  read: number;
  write: number;
}

/**
 * Create pipes between programs; both ends go to children. FIFOs are only the fallback: `cat /dev/stdin` on a FIFO
 * waits forever if the program before has ended, on a pipe it does not. A shell creates a pipe for each here-document,
 * and we open its ends through /proc.
 */
export async function joints(count: number): Promise<Joint[]> {
  const made: Joint[] = [];
  try {
    while (made.length < count) made.push(...(await openBatch(Math.min(count - made.length, atOnce))));
    return made;
  } catch (error) {
    for (const {read, write} of made) closeBoth(read, write);
    throw error;
  }
}

/** Fall back to FIFOs if the shell does not answer: no part of a run may wait forever. */
const patienceMs = 10_000;

/** POSIX sh supports only single-digit descriptors. */
const atOnce = 7;

async function openBatch(count: number): Promise<Joint[]> {
  const opened: Joint[] = [];
  const fds = Array.from({length: count}, (_, i) => i + 3);
  const script = `exec ${fds.map(fd => `${fd}<<.`).join(' ')}\n${'.\n'.repeat(count)}echo\nread end`;
  const shell = spawn('/bin/sh', ['-c', script], {
    ...{env: {}, timeout: patienceMs, killSignal: 'SIGKILL'},
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  try {
    const ready = await new Promise<boolean>(resolve => {
      shell.stdout.once('data', () => resolve(true));
      shell.stdout.once('end', () => resolve(false));
      shell.once('error', () => resolve(false));
    });
    const paths = fds.map(fd => `/proc/${shell.pid}/fd/${fd}`);
    if (!ready || !paths.every(isPipe)) return await fifos(count);
    for (const path of paths) {
      const write = openSync(path, constants.O_WRONLY);
      opened.push({read: openForReading(path, write), write});
    }
    return opened;
  } catch (error) {
    for (const {read, write} of opened) closeBoth(read, write);
    throw error;
  } finally {
    shell.on('error', () => {});
    shell.kill('SIGKILL');
  }
}

async function fifos(count: number): Promise<Joint[]> {
  const made = await makePipes(count, 0);
  for (const {ours} of made) closeSync(ours);
  return made;
}

function openForReading(path: string, other: number): number {
  try {
    return openSync(path, constants.O_RDONLY);
  } catch (error) {
    closeSync(other);
    throw error;
  }
}

function isPipe(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('pipe:');
  } catch {
    return false;
  }
}

function closeBoth(read: number, write: number): void {
  closeSync(read);
  closeSync(write);
}
