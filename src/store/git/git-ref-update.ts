import {type ChildProcessWithoutNullStreams, spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {crashPoint} from '../crash.ts';
import {fixedOptions, gitEnvironment, ownProcesses} from './git.ts';
import {clean} from './git-commit.ts';
import type {Person} from './git-config.ts';

/** Locks are held meanwhile, so a quick answer is waited for without giving anybody else a turn. */
const SPIN_MS = 20;
const NAP_MS = 0.1;
const nap = new Int32Array(new SharedArrayBuffer(4));

/**
 * One `git update-ref` that moves HEAD's branch, or HEAD itself, in two steps: `prepare` takes git's locks and compares
 * the old value, `commit` moves. Started ahead of time, for starting it takes longer than both. Ends with `end`.
 */
export class RefUpdate {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<void>;
  #said = '';
  #failed = '';
  #answered: () => void = () => {};
  #isClosed = false;

  /** `message`: for the reflog. */
  constructor(
    dir: string,
    message: string,
    {name, email}: Person,
    how = {options: fixedOptions, environment: () => gitEnvironment(process.env)},
  ) {
    crashPoint('spawn-git');
    const args = [...how.options, 'update-ref', '-m', message, '--stdin'];
    const who = {
      GIT_COMMITTER_NAME: clean(name) || 'agentdir',
      GIT_COMMITTER_EMAIL: clean(email) || 'agentdir@localhost',
    };
    const child = spawn('git', args, {cwd: dir, env: {...how.environment(), ...who}});
    const {pid} = child;
    if (pid) ownProcesses.add(pid);
    child.stdin.on('error', () => {});
    child.stdout.on('data', data => {
      this.#said += String(data);
      this.#answered();
    });
    child.stderr.on('data', data => {
      this.#failed += String(data);
    });
    this.#closed = new Promise(resolve => {
      const closed = (why = '') => {
        if (pid) ownProcesses.delete(pid);
        this.#failed ||= why;
        this.#isClosed = true;
        this.#answered();
        resolve();
      };
      child.on('error', error => closed(error.message));
      child.on('close', code => closed(code === 0 ? '' : `ended with ${code}`));
    });
    this.#child = child;
  }

  /** Why it cannot be moved now, in git's words; undefined: its locks are held. `isDone` may know sooner than git says. */
  prepare(tip: string, old: string, isDone: () => boolean): Promise<string | undefined> {
    return this.#ask(`start\nupdate HEAD ${tip} ${old}\nprepare\n`, 'prepare: ok', isDone);
  }

  commit(isDone: () => boolean): Promise<string | undefined> {
    return this.#ask('commit\n', 'commit: ok', isDone);
  }

  /** Nothing is locked any more after it. */
  async end(): Promise<void> {
    this.#child.stdin.end();
    await this.#closed;
  }

  async #ask(text: string, answer: string, isDone: () => boolean): Promise<string | undefined> {
    this.#child.stdin.write(text);
    for (const end = performance.now() + SPIN_MS; performance.now() < end; Atomics.wait(nap, 0, 0, NAP_MS))
      if (isDone()) return undefined;
    while (!this.#said.includes(answer) && !this.#isClosed)
      await new Promise<void>(resolve => {
        this.#answered = resolve;
      });
    return this.#said.includes(answer) ? undefined : this.#failed.trim() || 'git update-ref ended';
  }
}

/** Whether a lock of git's holds this value. */
export function lockHolds(path: string, value: string): boolean {
  try {
    return readFileSync(path, 'latin1').trim() === value;
  } catch {
    return false;
  }
}
