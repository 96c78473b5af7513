import {type ChildProcess, spawn} from 'node:child_process';
import {createWriteStream, mkdirSync, rmSync, type WriteStream} from 'node:fs';
import {dirname, join} from 'node:path';
import {finished} from 'node:stream/promises';
import {StringDecoder} from 'node:string_decoder';
import type {SetupStep} from '../../../formats/run.ts';
import {shellLine, type VariableValues} from '../../../formats/workflow-variables.ts';

/** What a setup command did. */
export interface SetupResult {
  status: 'done' | 'failed';
  exit_code?: number;
  output: string;
  /** The whole of a long output, relative to the home. */
  file?: string;
  error?: string;
}

const TIMEOUT_SECONDS = 600;
/** How much of an output becomes a value; it must also fit into an environment variable, of at most 128 KB. */
const MOST_VALUE = 64_000;
/** How much of an output is kept in a file. The rest is read and dropped. */
const MOST_KEPT = 50_000_000;
const MOST_ERROR = 2_000;

export interface StepPlace {
  home: string;
  cwd: string;
  /** Where the whole of a long output goes, relative to the home. */
  file: string;
}

/** Run a setup command as the person who starts the workflow. Values reach it as environment variables. Never throws. */
export async function runStep(
  {shell, timeout_seconds: seconds = TIMEOUT_SECONDS}: Pick<SetupStep, 'shell' | 'timeout_seconds'>,
  lookUp: VariableValues,
  {home, cwd, file}: StepPlace,
): Promise<SetupResult> {
  const {line, env} = shellLine(shell, lookUp);
  const output = new KeptOutput(join(home, file));
  let errors = '';
  let timedOut = false;
  let child: ChildProcess;
  try {
    // Its own process group, so that all of it ends with the step.
    child = spawn('/bin/sh', ['-c', line], {
      cwd,
      env: {...process.env, ...env},
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    return {status: 'failed', output: '', error: `it could not be started: ${(error as Error).message}`};
  }
  const endGroup = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended.
    }
  };
  const onExit = () => endGroup('SIGKILL');
  process.once('exit', onExit);
  const timer = setTimeout(() => {
    timedOut = true;
    endGroup('SIGKILL');
  }, seconds * 1000);
  child.stdout?.on('data', (bytes: Buffer) => output.add(bytes));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-MOST_ERROR);
  });
  const ended = await new Promise<{code: number | null; why?: string}>(resolve => {
    child.once('error', error => resolve({code: null, why: error.message}));
    child.once('close', (code, signal) => resolve({code, ...(signal && {why: `it was ended by ${signal}`})}));
  });
  clearTimeout(timer);
  process.off('exit', onExit);
  // What it left in the background ends with it.
  endGroup('SIGKILL');
  const kept = await output.end(file);
  const code = ended.code === null ? {} : {exit_code: ended.code};
  if (ended.code === 0 && !timedOut) return {status: 'done', ...code, ...kept};
  const why = timedOut ? `it took longer than ${seconds} s` : (ended.why ?? `it ended with exit code ${ended.code}`);
  const said = errors.trim();
  return {status: 'failed', ...code, ...kept, error: said === '' ? why : `${why}: ${said}`};
}

/** The beginning and the end of an output, and the whole of a long one in a file. */
class KeptOutput {
  #head = '';
  #tail = '';
  #length = 0;
  #bytes = 0;
  #file: WriteStream | undefined;
  #failed = false;
  readonly #chunks: Buffer[] = [];
  readonly #decoder = new StringDecoder('utf8');
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  add(bytes: Buffer): void {
    if (this.#bytes < MOST_KEPT) this.#keep(bytes.subarray(0, MOST_KEPT - this.#bytes));
    this.#bytes += bytes.length;
    this.#take(this.#decoder.write(bytes));
  }

  #keep(bytes: Buffer): void {
    if (!this.#file && this.#bytes + bytes.length <= MOST_VALUE) {
      this.#chunks.push(bytes);
      return;
    }
    if (this.#failed) return;
    if (!this.#file) {
      mkdirSync(dirname(this.#path), {recursive: true});
      this.#file = createWriteStream(this.#path, {mode: 0o600});
      this.#file.on('error', () => {
        this.#failed = true;
      });
      for (const chunk of this.#chunks.splice(0)) this.#file.write(chunk);
    }
    this.#file.write(bytes);
  }

  #take(text: string): void {
    const clean = text.replaceAll('\0', '');
    this.#length += clean.length;
    const room = MOST_VALUE / 2 - this.#head.length;
    if (room > 0) this.#head += clean.slice(0, room);
    if (clean.length > room) this.#tail = (this.#tail + clean.slice(Math.max(0, room))).slice(-MOST_VALUE / 2);
  }

  async end(file: string): Promise<{output: string; file?: string}> {
    this.#take(this.#decoder.end());
    if (this.#file) {
      this.#file.end();
      await finished(this.#file).catch(() => {
        this.#failed = true;
      });
    }
    const left = this.#length - this.#head.length - this.#tail.length;
    const whole = this.#file && !this.#failed ? file : undefined;
    if (left === 0 && Buffer.byteLength(this.#head + this.#tail) < MOST_BYTES) {
      if (this.#file) rmSync(this.#path, {force: true});
      return {output: (this.#head + this.#tail).replace(/\n+$/, '')};
    }
    const [head, tail] =
      left === 0 ? [this.#head.slice(0, MOST_VALUE / 4), this.#tail.slice(-MOST_VALUE / 4)] : [this.#head, this.#tail];
    const cut = this.#length - head.length - tail.length;
    const where = whole === undefined ? '' : `; the whole is in ${whole}`;
    return {
      output: `${head}\n[… ${cut} characters left out${where} …]\n${tail}`.replace(/\n+$/, ''),
      ...(whole !== undefined && {file: whole}),
    };
  }
}

const MOST_BYTES = 120_000;
