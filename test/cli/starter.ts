import {type ChildProcess, spawn} from 'node:child_process';
import {EventEmitter} from 'node:events';
import {createInterface} from 'node:readline';
import type {Duplex} from 'node:stream';
import {fileURLToPath} from 'node:url';
import type {Run} from './run.ts';

/** One for each process that runs tests: a small process that starts programs, see starter.cjs. */
let starter: {child: ChildProcess; channel: Duplex} | undefined;
const listeners = new Map<number, (message: Message) => void>();
let count = 0;

interface Message {
  id: number;
  code?: number | null;
  pid?: number;
  stdout?: string;
  stderr?: string;
  exit?: {code: number | null; signal: NodeJS.Signals | null};
}

/** How often each program was started: see test/cpu-of-files.ts. */
export const starts = new Map<string, number>();

function ask(request: Record<string, unknown>): void {
  starter ??= begin();
  starter.channel.write(`${JSON.stringify(request)}\n`);
}

function begin(): {child: ChildProcess; channel: Duplex} {
  const program = fileURLToPath(new URL('starter.cjs', import.meta.url));
  const child = spawn(process.execPath, [program], {stdio: ['ignore', 'inherit', 'inherit', 'pipe']});
  const channel = child.stdio[3] as Duplex;
  createInterface({input: channel}).on('line', line => {
    const message = JSON.parse(line) as Message;
    listeners.get(message.id)?.(message);
  });
  child.once('exit', () => {
    throw new Error('test/cli/starter.cjs has ended');
  });
  child.unref();
  (channel as unknown as {unref(): void}).unref();
  return {child, channel};
}

export function countStart(file: string, [program = '', command = '']: readonly string[]): void {
  const name = program.endsWith('bin/main.js') ? `agentdir ${command}` : file.replace(/.*\//, '');
  starts.set(name, (starts.get(name) ?? 0) + 1);
}

export function starterPids(): number[] {
  return starter?.child.pid === undefined ? [] : [starter.child.pid];
}

/** Runs a program to its end. */
export function runProgram(file: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Run> {
  countStart(file, args);
  return new Promise(resolve => {
    const id = ++count;
    listeners.set(id, ({code, stdout = '', stderr = ''}) => {
      listeners.delete(id);
      resolve({code: code ?? 1, stdout, stderr});
    });
    ask({what: 'run', id, file, args, cwd, env});
  });
}

interface Events {
  exit: [code: number | null, signal: NodeJS.Signals | null];
  stdout: [text: string];
  stderr: [text: string];
}

/** A program that was started, like a ChildProcess. */
export class Started extends EventEmitter<Events> {
  /** Undefined at first. */
  pid: number | undefined;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  readonly #id = ++count;

  constructor(
    file: string,
    args: readonly string[],
    options: {cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number},
  ) {
    super();
    countStart(file, args);
    listeners.set(this.#id, message => this.#onMessage(message));
    ask({what: 'start', id: this.#id, file, args, options});
  }

  get isOver(): boolean {
    return this.exitCode !== null || this.signalCode !== null;
  }

  /** At once, if it has begun. */
  kill(signal: NodeJS.Signals): void {
    if (this.isOver) return;
    try {
      if (this.pid === undefined) ask({what: 'kill', id: this.#id, signal});
      else process.kill(this.pid, signal);
    } catch (error) {
      // It has just ended.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  #onMessage({pid, stdout, stderr, exit}: Message): void {
    if (pid !== undefined) this.pid = pid;
    if (stdout !== undefined) this.emit('stdout', stdout);
    if (stderr !== undefined) this.emit('stderr', stderr);
    if (exit === undefined) return;
    ({code: this.exitCode, signal: this.signalCode} = exit);
    this.emit('exit', exit.code, exit.signal);
  }
}
