import {type ChildProcess, spawn} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {onTestFinished} from 'vitest';
import {environment, git, main, until} from '../cli/run.ts';

export interface Event {
  event: string;
  [key: string]: unknown;
}

/** A real daemon, and what it has told so far. */
export interface Served {
  child: ChildProcess;
  pid: number;
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
  const child = spawn(process.execPath, [main, 'start', '--json'], {
    cwd: home,
    env: {...environment, ...env},
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  const events: Event[] = [];
  let stderr = '';
  createInterface({input: child.stdout as NodeJS.ReadableStream}).on('line', line => {
    events.push(JSON.parse(line) as Event);
  });
  child.stderr?.on('data', chunk => {
    stderr += chunk;
  });
  const exited = new Promise<number | string | null>(resolve =>
    child.once('exit', (code, signal) => resolve(code ?? signal)),
  );
  const end = (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return exited;
  };
  const kill = async () => {
    await end('SIGKILL');
  };
  atEnd(kill);
  return {
    child,
    pid: child.pid ?? 0,
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

/** Until the daemon has nothing left to do: what is on disk is in git, whose lock is free, and the file reads as `holds` says. */
export async function settled(home: string, path: string, holds: (text: string) => boolean): Promise<string> {
  return until(
    async () => {
      const text = read(home, path);
      const status = holds(text) ? await git(home, 'status', '--porcelain') : 'not asked for yet';
      return {text, status: status || (existsSync(join(home, '.git/index.lock')) ? 'locked' : '')};
    },
    ({status}) => status === '',
  ).then(({text}) => text);
}

/** As `settled`, of this file alone: an editor may have others of its own lying about. */
export async function committed(home: string, path: string, holds: (text: string) => boolean): Promise<string> {
  return until(
    async () => {
      const text = read(home, path);
      const status = holds(text) ? await git(home, 'status', '--porcelain', '--', path) : 'not asked for yet';
      return {text, status};
    },
    ({status}) => status === '',
  ).then(({text}) => text);
}

export const subjects = async (home: string): Promise<string[]> =>
  (await git(home, 'log', '--reverse', '--format=%an: %s')).trim().split('\n').slice(1);
