import {existsSync, readFileSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {environment, git, main, until} from '../cli/run.ts';
import {Started} from '../cli/starter.ts';

export interface Event {
  event: string;
  [key: string]: unknown;
}

/** A real daemon, and what it has told so far. */
export interface Served {
  child: Started;
  /** 0 until it has begun; it has when it serves. */
  readonly pid: number;
  events: Event[];
  errors: () => string;
  exited: Promise<number | string | null>;
  /** SIGTERM; its exit code. */
  stop: () => Promise<number | string | null>;
  kill: () => Promise<void>;
}

/** Start one and do not wait for anything. It ends with the test, or when `atEnd` says. */
export function spawnDaemon(
  home: string,
  env: NodeJS.ProcessEnv = {},
  options: {uid?: number; gid?: number} = {},
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Served {
  const child = new Started(process.execPath, [main, 'start', '--json'], {
    cwd: home,
    env: {...environment, ...env},
    ...options,
  });
  const events: Event[] = [];
  let stdout = '';
  let stderr = '';
  child.on('stdout', text => {
    const lines = (stdout + text).split('\n');
    stdout = lines.pop() ?? '';
    for (const line of lines) events.push(JSON.parse(line) as Event);
  });
  child.on('stderr', text => {
    stderr += text;
  });
  const exited = new Promise<number | string | null>(resolve =>
    child.once('exit', (code, signal) => resolve(code ?? signal)),
  );
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  const kill = async () => {
    await end('SIGKILL');
  };
  atEnd(kill);
  return {
    child,
    get pid() {
      return child.pid ?? 0;
    },
    events,
    errors: () => stderr,
    exited,
    stop: () => end('SIGTERM'),
    kill,
  };
}

export async function serve(
  home: string,
  env: NodeJS.ProcessEnv = {},
  atEnd?: (end: () => Promise<void>) => void,
): Promise<Served> {
  const served = spawnDaemon(home, env, {}, atEnd);
  await until(
    () => ({events: served.events, code: served.child.exitCode, stderr: served.errors()}),
    ({events, code}) => code !== null || events.some(({event}) => event === 'serving'),
  );
  if (served.child.exitCode !== null) throw new Error(`the daemon ended: ${served.errors()}`);
  return served;
}

export const read = (home: string, path: string): string =>
  existsSync(join(home, path)) ? readFileSync(join(home, path), 'utf8') : '';

/**
 * `git status`, for who waits until it says something else: asked again when the index or HEAD has changed, or after a while, because each time
 * costs a process.
 */
function statusOf(home: string, ...paths: string[]): () => Promise<string> {
  let status = '';
  let seen = '';
  let asked = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = ['.git/index', '.git/logs/HEAD']
      .map(path => statSync(join(home, path), {throwIfNoEntry: false, bigint: true}))
      .map(file => `${file?.ino} ${file?.mtimeNs}`)
      .join();
    if (status !== '' && now === seen && performance.now() - asked < 250) return status;
    asked = performance.now();
    seen = now;
    status = await git(home, 'status', '--porcelain', ...(paths.length > 0 ? ['--', ...paths] : []));
    return status;
  };
}

/** Until git has what is on disk. */
export async function clean(home: string): Promise<void> {
  await until(statusOf(home), status => status === '');
}

/** Until the daemon has nothing left to do: what is on disk is in git, whose lock is free, and the file reads as `holds` says. */
export async function settled(home: string, path: string, holds: (text: string) => boolean): Promise<string> {
  const ask = statusOf(home);
  return until(
    async () => {
      const text = read(home, path);
      const status = holds(text) ? await ask() : 'not asked for yet';
      const busy = existsSync(join(home, '.git/index.lock'))
        ? 'locked'
        : read(home, path) === text
          ? ''
          : 'written meanwhile';
      return {text, status: status || busy};
    },
    ({status}) => status === '',
  ).then(({text}) => text);
}

/** As `settled`, of this file alone: an editor may have others of its own lying about. */
export async function committed(home: string, path: string, holds: (text: string) => boolean): Promise<string> {
  const ask = statusOf(home, path);
  return until(
    async () => {
      const text = read(home, path);
      const status = holds(text) ? await ask() : 'not asked for yet';
      return {text, status: status || (read(home, path) === text ? '' : 'written meanwhile')};
    },
    ({status}) => status === '',
  ).then(({text}) => text);
}

export const subjects = async (home: string): Promise<string[]> =>
  (await git(home, 'log', '--reverse', '--format=%an: %s')).trim().split('\n').slice(1);
