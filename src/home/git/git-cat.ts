import {type ChildProcessWithoutNullStreams, spawn} from 'node:child_process';
import {crashPoint} from '../disk/crash.ts';
import {fixedOptions, gitEnvironment, ownProcesses} from './git.ts';

const IDLE_MS = 5_000;

type Answer = (body: Buffer | undefined | Error) => void;

/** Reads objects, loose or packed, with one `git cat-file --batch` process that ends when idle. */
export class Cat {
  readonly #dir: string;
  readonly #how: {options: readonly string[]; environment: () => NodeJS.ProcessEnv};
  #process: CatProcess | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(dir: string, how = {options: fixedOptions, environment: () => gitEnvironment(process.env)}) {
    this.#dir = dir;
    this.#how = how;
  }

  /** Undefined: there is no such object. Rejects if git itself fails. */
  body(id: string): Promise<Buffer | undefined> {
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      const process = this.#running();
      process.ask(id, answer => (answer instanceof Error ? reject(answer) : resolve(answer)));
    });
  }

  /** The process answers what it was asked, and ends. */
  close(): void {
    clearTimeout(this.#idle);
    this.#process?.end();
    this.#process = undefined;
  }

  #running(): CatProcess {
    if (this.#process) return this.#process;
    crashPoint('spawn-git');
    const {options, environment} = this.#how;
    const child = spawn('git', [...options, '--no-replace-objects', 'cat-file', '--batch'], {
      cwd: this.#dir,
      env: environment(),
    });
    const process = new CatProcess(child, {
      onIdle: () => {
        if (this.#process !== process) return;
        clearTimeout(this.#idle);
        this.#idle = setTimeout(() => this.close(), IDLE_MS).unref();
      },
      onEnd: () => {
        if (this.#process === process) this.#process = undefined;
      },
    });
    this.#process = process;
    return process;
  }
}

/** One `git cat-file --batch`: questions and answers in the same order. */
class CatProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #onIdle: () => void;
  readonly #asked: Answer[] = [];
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(child: ChildProcessWithoutNullStreams, {onIdle, onEnd}: {onIdle: () => void; onEnd: () => void}) {
    this.#child = child;
    this.#onIdle = onIdle;
    const {pid} = child;
    if (pid) ownProcesses.add(pid);
    let stderr = '';
    child.stderr.on('data', data => {
      stderr = String(data).trim();
    });
    child.stdin.on('error', () => {});
    child.stdout.on('data', (data: Buffer) => this.#read(data));
    const gone = (why: string) => {
      if (pid) ownProcesses.delete(pid);
      onEnd();
      for (const answer of this.#asked.splice(0)) answer(new Error(`git cat-file ended: ${stderr || why}`));
    };
    child.on('error', error => gone(error.message));
    child.on('close', code => gone(`code ${code}`));
  }

  ask(id: string, answer: Answer): void {
    this.#hold(true);
    this.#asked.push(answer);
    this.#child.stdin.write(`${id}\n`);
  }

  end(): void {
    this.#child.stdin.end();
  }

  #read(data: Buffer): void {
    this.#chunks.push(data);
    this.#length += data.length;
    // Concatenate the pieces of a large object only once.
    if (this.#length < this.#needed) return;
    this.#rest = this.#chunks.length === 1 ? data : Buffer.concat(this.#chunks);
    this.#needed = 0;
    this.#parse();
    this.#chunks = this.#rest.length > 0 ? [this.#rest] : [];
    this.#length = this.#rest.length;
    if (this.#asked.length > 0) return;
    // Nobody waits: the process may not keep this one alive.
    this.#hold(false);
    this.#onIdle();
  }

  #parse(): void {
    for (let end = this.#rest.indexOf(10); end !== -1; end = this.#rest.indexOf(10)) {
      const words = this.#rest.toString('latin1', 0, end).split(' ');
      const size = Number(words[2]);
      const missing = words.length < 3 || Number.isNaN(size);
      if (!missing && this.#rest.length < end + 1 + size + 1) {
        this.#needed = end + 1 + size + 1;
        return;
      }
      const body = missing ? undefined : Buffer.from(this.#rest.subarray(end + 1, end + 1 + size));
      this.#rest = this.#rest.subarray(missing ? end + 1 : end + 1 + size + 1);
      this.#asked.shift()?.(body);
    }
  }

  #hold(on: boolean): void {
    const verb = on ? 'ref' : 'unref';
    this.#child[verb]();
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr])
      (stream as unknown as {ref?: () => void; unref?: () => void})[verb]?.();
  }
}
