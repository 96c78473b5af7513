import {execFile} from 'node:child_process';
import {closeSync, constants, openSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {systemPath} from './environment.ts';
import {clearScratch, scratchFolder} from './scratch.ts';

/** A pipe, open. */
export interface Pipe {
  read: number;
  /** For children, who block. */
  write: number;
  /** To write without blocking. */
  ours: number;
}

/**
 * Real pipes for output. What Node gives a child are sockets, and `echo x > /dev/stderr` cannot open those. Node has no
 * call for a pipe, so they are FIFOs, opened and at once removed. One `mkfifo` makes several, and the next ones while
 * commands run: a pipe costs no process of its own.
 */
const atOnce = 20;
const low = 6;
const patienceMs = 10_000;

const ready: Pipe[] = [];
let making: Promise<void> | undefined;

/** That many pipes for us to read without blocking; they are the caller's to close. Throws what `mkfifo` said. */
export async function pipes(count: number): Promise<Pipe[]> {
  while (ready.length < count) await more();
  const taken = ready.splice(0, count);
  if (ready.length < low) more().catch(() => {}); // the next who needs one hears of it
  return taken;
}

/** How many are open and nobody's yet. */
export function spare(): number {
  return ready.length;
}

async function more(): Promise<void> {
  making ??= makePipes(atOnce, constants.O_NONBLOCK)
    .then(made => void ready.push(...made))
    .finally(() => {
      making = undefined;
    });
  await making;
}

let isCleared = false;

/** What killed daemons left in the system's temporary folder. */
function clearOnce(): void {
  if (!isCleared) clearScratch(tmpdir());
  isCleared = true;
}

/** `reading`: how to open the end that is read from, 0 or O_NONBLOCK. */
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
      // With both ends open in one, neither of the others waits for its partner.
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
