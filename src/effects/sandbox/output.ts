import {closeSync, writeSync} from 'node:fs';
import {Socket} from 'node:net';
import {type Pipe, pipes} from './pipes.ts';
import type {RunRequest} from './request.ts';

export interface RunOutput {
  stdout: number;
  stderr: number;
  /** Write a line of our own to stderr, in order with the programs' output. */
  say: (line: string) => void;
  /** No more programs will start: close the daemon's copies of the write ends. */
  allStarted: () => void;
  /** Resolves when all output has been passed on. Does not wait for processes that still hold a pipe. */
  close: () => Promise<void>;
}

/** For a writer that could not be killed. Measures silence, not time, because this process may be late. */
const patienceMs = 500;

/** Pass output on at once, so that none accumulates in memory. Beyond `mostOutput`, drop it and call `tooMuch`. */
export async function openOutput({mostOutput, onOutput}: RunRequest, tooMuch: () => void): Promise<RunOutput> {
  let left = mostOutput;
  const take = (stream: 'stdout' | 'stderr', chunk: Buffer): void => {
    const part = chunk.length > left ? chunk.subarray(0, left) : chunk;
    left -= part.length;
    if (part.length > 0) onOutput(stream, part);
    if (part.length < chunk.length) tooMuch();
  };
  const [stdout, stderr] = (await pipes(2)) as [Pipe, Pipe];
  const sockets = [listen(stdout, chunk => take('stdout', chunk)), listen(stderr, chunk => take('stderr', chunk))];
  const closed = Promise.all(sockets.map(socket => new Promise(resolve => socket.once('close', resolve))));
  let writers = [stdout, stderr].flatMap(pipe => [pipe.write, pipe.ours]);
  const allStarted = () => {
    for (const fd of writers) closeSync(fd);
    writers = [];
  };
  return {
    stdout: stdout.write,
    stderr: stderr.write,
    say: line => {
      const words = Buffer.from(`${line}\n`);
      try {
        writeSync(stderr.ours, words);
      } catch {
        take('stderr', words); // the pipe is full
      }
    },
    allStarted,
    close: async () => {
      allStarted();
      const over = leaveSilent(sockets);
      await closed;
      over();
    },
  };
}

/** The socket owns and closes the descriptor. */
function listen({read}: Pipe, take: (chunk: Buffer) => void): Socket {
  const socket = new Socket({fd: read, readable: true, writable: false});
  socket.on('error', () => {});
  socket.on('data', take);
  return socket;
}

/** Destroy sockets that stay silent. Timers run before reads: read what is there first, then count. */
function leaveSilent(sockets: readonly Socket[]): () => void {
  const heard = () => sockets.reduce((sum, {bytesRead}) => sum + bytesRead, 0);
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const wait = (before: number): void => {
    if (isOver) return;
    timer = setTimeout(() => {
      setImmediate(() => {
        const now = heard();
        if (now > before) wait(now);
        else for (const socket of sockets) socket.destroy();
      });
    }, patienceMs);
  };
  wait(heard());
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
