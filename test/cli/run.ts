import {type ChildProcess, spawn} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {onTestFinished} from 'vitest';
import {hostFor, runIn} from './hosts.ts';
import {runProgram} from './starter.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const main = join(root, 'bin/main.js');

/** The gate (`.ci/run`) tries every variant; `npm test`, which is to be quick, the telling ones. */
export const thorough = process.env.TESTS === 'all' || process.env.FUZZ !== undefined;

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Git must not depend on who runs the tests. */
export const environment: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  HOME: tmpdir(),
  // No test asks a model that happens to run on this machine.
  OLLAMA_HOST: '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};

/** The built program's command. In a process that has run others before, where that makes no difference: it loads the program once. */
export function agentdir(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = environment): Promise<Run> {
  const host = hostFor(cwd, args, env, environment);
  return host ? runIn(host, cwd, args, env) : agentdirAlone(cwd, args, env);
}

/** The same, in a process of its own. */
export function agentdirAlone(
  cwd: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = environment,
): Promise<Run> {
  return runProgram(process.execPath, [main, ...args], cwd, env);
}

/** The same, to look at while it runs; what it reads is `input`. It is killed when the test ends. */
export interface Running {
  child: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  ended: Promise<Run>;
}

export function startAgentdir(cwd: string, args: readonly string[], input?: string): Running {
  const child = spawn(process.execPath, [main, ...args], {cwd, env: environment, stdio: ['pipe', 'pipe', 'pipe']});
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const ended = new Promise<Run>(resolve => child.once('close', code => resolve({code: code ?? -1, stdout, stderr})));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {child, stdout: () => stdout, stderr: () => stderr, ended};
}

/** When it returns, it is over: git's own tidying up does not go on behind our back, with its locks. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const result = await runProgram('git', ['-c', 'gc.autoDetach=false', ...args], cwd, environment);
  if (result.code !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

/** It is removed when the test ends. A test that runs beside others names its own `atEnd`: vitest takes the last one that began for the current one. */
export function temporary(atEnd: typeof onTestFinished = onTestFinished): string {
  const dir = mkdtempSync(join(tmpdir(), 'agentdir-test-'));
  atEnd(async () => {
    try {
      if (thorough) await (await import('../replayed.ts')).expectReplayed(join(dir, 'home'));
    } finally {
      rmSync(dir, {recursive: true, force: true, maxRetries: 20, retryDelay: 50});
    }
  });
  return dir;
}

let fresh: Promise<string> | undefined;

/** A home made by `agentdir init`, with these files added. Made once for each process that runs tests, and copied. */
export async function newHome(files: Record<string, string> = {}, atEnd = onTestFinished): Promise<string> {
  fresh ??= makeHome();
  const home = join(temporary(atEnd), 'home');
  cpSync(await fresh, home, {recursive: true, preserveTimestamps: true});
  // The copies are other files to git: let it look at them once.
  await git(home, 'update-index', '-q', '--refresh');
  put(home, files);
  return home;
}

async function makeHome(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'agentdir-fresh-'));
  process.once('exit', () => rmSync(dir, {recursive: true, force: true, maxRetries: 20, retryDelay: 50}));
  const {code, stderr} = await agentdir(dir, ['init', join(dir, 'home')]);
  if (code !== 0) throw new Error(stderr);
  return join(dir, 'home');
}

export function put(home: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), {recursive: true});
    writeFileSync(join(home, path), text);
  }
}

/** Until the condition holds; fails after a while with what was seen last. Looks that cost something are made less often. */
export async function until<T>(look: () => T | Promise<T>, holds: (seen: T) => boolean, ms = 90_000): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const began = performance.now();
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > end) throw new Error(`waited in vain; last seen: ${JSON.stringify(seen)?.slice(0, 6000)}`);
    const pause = Math.min(Math.max(20, 4 * (performance.now() - began)), 250);
    await new Promise(resolve => setTimeout(resolve, pause));
  }
}
