import {spawn} from 'node:child_process';
import {crashPoint} from '../../home/disk/crash.ts';
import {ownProcesses} from '../../home/git/git.ts';
import {signal as sendSignal} from '../sandbox/processes.ts';

export interface CleanGitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

export interface GitRun {
  /** Bytes, or a file descriptor to read from. */
  input?: Buffer | string | number;
  environment?: NodeJS.ProcessEnv;
  /** After this time, kill the process and all its children; `code` is then -1. */
  timeoutMs?: number;
  /** Abort like a timeout. */
  signal?: AbortSignal | undefined;
}

/** Options with which git runs nothing that a repository, user settings or files in a workspace could name. */
export const cleanOptions: readonly string[] = [
  ...['--git-dir=.', '--no-pager', '--literal-pathspecs', '--no-optional-locks', '--no-replace-objects'],
  ...[
    'core.hooksPath=/dev/null',
    'core.fsmonitor=false',
    'core.attributesFile=/dev/null',
    'core.excludesFile=/dev/null',
    'core.quotePath=false',
    'core.untrackedCache=false',
    'core.splitIndex=false',
    'index.version=2',
    'index.sparse=false',
    'commit.gpgSign=false',
    'log.showSignature=false',
    'submodule.recurse=false',
    'fetch.recurseSubmodules=false',
    'gc.auto=0',
    'maintenance.auto=false',
    'diff.external=',
    'protocol.ext.allow=never',
  ].flatMap(setting => ['-c', setting]),
];

/** Without GIT_* variables of the parent process, and without system and user settings. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_DEFAULT_HASH: 'sha1',
    GIT_DEFAULT_REF_FORMAT: 'files',
    // Do not fetch missing objects as the git-dir's settings say, with a program that these name.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
  };
}

const MOST_SAID = 256 * 1024 * 1024;

/** Run git in a git-dir, never in a workspace. Expected failures are values. */
export function cleanGit(gitDir: string, args: readonly string[], how: GitRun = {}): Promise<CleanGitResult> {
  crashPoint('spawn-git');
  const {input = '', environment = cleanEnvironment(), timeoutMs, signal} = how;
  return new Promise(resolve => {
    const child = spawn('git', [...cleanOptions, ...args], {
      cwd: gitDir,
      env: environment,
      stdio: [typeof input === 'number' ? input : 'pipe', 'pipe', 'pipe'],
      detached: timeoutMs !== undefined,
    });
    const {pid} = child;
    if (pid) ownProcesses.add(pid);
    const out: Buffer[] = [];
    let length = 0;
    let stderr = '';
    let late = false;
    const end = () => {
      late = true;
      if (pid) sendSignal(timeoutMs === undefined ? pid : -pid, 'SIGKILL');
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    child.stdout?.on('data', (data: Buffer) => {
      out.push(data);
      length += data.length;
      if (length > MOST_SAID) end();
    });
    child.stderr?.on('data', data => {
      stderr = (stderr + data).slice(-4096);
    });
    const done = (code: number, why: string) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (pid) ownProcesses.delete(pid);
      resolve({code: late ? -1 : code, stdout: Buffer.concat(out), stderr: stderr || why});
    };
    child.on('error', error => done(127, error.message));
    child.on('close', code => done(code ?? 128, 'git was killed'));
    // Git may exit before it has read all input.
    child.stdin?.on('error', () => {});
    if (typeof input !== 'number') child.stdin?.end(input);
  });
}
