import {type ChildProcessWithoutNullStreams, spawn} from 'node:child_process';
import {crashPoint} from '../disk/crash.ts';
import {fixedOptions, gitEnvironment, ownProcesses} from './git.ts';

const IDLE_MS = 5_000;

type Answer = (body: Buffer | undefined | Error) => void;

/** Reads objects, loose or packed, with one `git cat-file --batch` process that ends when idle. */
export class Cat {
  readonly #dir: string;
  readonly #how: {options: readonly string[]; environment: () => NodeJS.ProcessEnv};
  #child: ChildProcessWithoutNullStreams | undefined;
  #asked: Answer[] = [];
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = 0;
  #rest: Buffer = Buffer.alloc(0);
  #idle: NodeJS.Timeout | undefined;

  constructor(dir: string, how = {options: fixedOptions, environment: () => gitEnvironment(process.env)}) {
    this.#dir = dir;
    this.#how = how;
  }

  /** Undefined: there is no such object. Rejects if git itself fails. */
  body(id: string): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => {
      const child = this.#running();
      this.#asked.push(answer => (answer instanceof Error ? reject(answer) : resolve(answer)));
      child.stdin.write(`${id}\n`);
    });
  }

  close(): void {
    clearTimeout(this.#idle);
    this.#child?.stdin.end();
    this.#child = undefined;
  }

  #running(): ChildProcessWithoutNullStreams {
    clearTimeout(this.#idle);
    if (this.#child) {
      this.#hold(this.#child, true);
      return this.#child;
    }
    crashPoint('spawn-git');
    const {options, environment} = this.#how;
    const child = spawn('git', [...options, '--no-replace-objects', 'cat-file', '--batch'], {
      cwd: this.#dir,
      env: environment(),
    });
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
      if (this.#child !== child) return;
      this.#child = undefined;
      this.#chunks = [];
      this.#length = 0;
      this.#needed = 0;
      for (const answer of this.#asked.splice(0)) answer(new Error(`git cat-file ended: ${stderr || why}`));
    };
    child.on('error', error => gone(error.message));
    child.on('close', code => gone(`code ${code}`));
    this.#child = child;
    return child;
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
    if (this.#asked.length > 0 || !this.#child) return;
    // Nobody waits: neither the child nor the timer may keep this process alive.
    this.#hold(this.#child, false);
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.close(), IDLE_MS).unref();
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

  #hold(child: ChildProcessWithoutNullStreams, on: boolean): void {
    const verb = on ? 'ref' : 'unref';
    child[verb]();
    for (const stream of [child.stdin, child.stdout, child.stderr])
      (stream as unknown as {ref?: () => void; unref?: () => void})[verb]?.();
  }
}
