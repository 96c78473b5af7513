import {execFile} from 'node:child_process';
import {closeSync, constants, openSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {systemPath} from './environment.ts';
import {clearScratch, scratchFolder} from './scratch.ts';

export interface Pipe {
  read: number;
  /** For children; blocking. */
  write: number;
  /** For the daemon; non-blocking. */
  ours: number;
}

/**
 * Real pipes for output. Node gives children sockets, and `echo x > /dev/stderr` cannot open a socket. Node cannot
 * create pipes, so we open FIFOs and remove them at once. One `mkfifo` creates several, and the next batch is created
 * while commands run, so a pipe costs no process of its own.
 */
const atOnce = 20;
const low = 6;
const patienceMs = 10_000;

const ready: Pipe[] = [];
let making: Promise<void> | undefined;

/** Take `count` pipes with non-blocking read ends; the caller closes them. Throws if `mkfifo` fails. */
export async function pipes(count: number): Promise<Pipe[]> {
  while (ready.length < count) await makeMore();
  const taken = ready.splice(0, count);
  if (ready.length < low) makeMore().catch(() => {}); // the next caller that needs a pipe gets the error
  return taken;
}

export function spare(): number {
  return ready.length;
}

async function makeMore(): Promise<void> {
  making ??= makePipes(atOnce, constants.O_NONBLOCK)
    .then(made => void ready.push(...made))
    .finally(() => {
      making = undefined;
    });
  await making;
}

let isCleared = false;

/** Remove what killed daemons left in the system's temporary folder. */
function clearOnce(): void {
  if (!isCleared) clearScratch(tmpdir());
  isCleared = true;
}

/** `reading`: flag for opening the read end, 0 or O_NONBLOCK. */
export async function makePipes(count: number, reading: number): Promise<Pipe[]> {
  clearOnce();
  const folder = scratchFolder(tmpdir(), 'pipes');
  const names = Array.from({length: count}, (_, i) => join(folder, String(i)));
  const opened: number[] = [];
  const open = (name: string, flags: number): number => {
    const fd = openSync(name, flags);
    opened.push(fd);
    return fd;
  };
  try {
    const options = {env: {PATH: [...systemPath, process.env.PATH ?? ''].join(':')}, timeout: patienceMs};
    await promisify(execFile)('mkfifo', ['-m', '600', ...names], options);
    return names.map(name => {
      // O_RDWR opens both ends, so that neither of the following opens blocks.
      const ours = open(name, constants.O_RDWR | constants.O_NONBLOCK);
      return {ours, read: open(name, constants.O_RDONLY | reading), write: open(name, constants.O_WRONLY)};
    });
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}
