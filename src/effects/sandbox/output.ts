import {closeSync, writeSync} from 'node:fs';
import {Socket} from 'node:net';
import {type Pipe, pipes} from './pipes.ts';
import type {RunRequest} from './request.ts';

/** What the programs of a run say. */
export interface RunOutput {
  /** For the programs to write to. */
  stdout: number;
  stderr: number;
  /** A line on stderr in our own words, in order with theirs. */
  say: (line: string) => void;
  /** No further program is started: the daemon keeps no file descriptors open for programs to write to. */
  allStarted: () => void;
  /** Resolves when all that was written is handed on. Nobody who still holds a pipe is waited for. */
  close: () => Promise<void>;
}

/** All writers are gone by then: this is for one that could not be killed. Of silence, not of time: we may be late ourselves. */
const patienceMs = 500;

/** Handed on at once, so that nothing gathers in memory; what is more than `mostOutput` is dropped, and told. */
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

/** The socket closes what it reads from. */
function listen({read}: Pipe, take: (chunk: Buffer) => void): Socket {
  const socket = new Socket({fd: read, readable: true, writable: false});
  socket.on('error', () => {});
  socket.on('data', take);
  return socket;
}

/** Leave what has said nothing for a while. Timers come before reading: what is there is read first, then counted. */
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
