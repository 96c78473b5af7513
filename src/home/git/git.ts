import {execFile} from 'node:child_process';
import {crashPoint} from '../disk/crash.ts';

export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface GitOptions {
  environment?: NodeJS.ProcessEnv;
  /** Additional environment variables, such as GIT_INDEX_FILE. */
  extra?: Record<string, string>;
  input?: string | Buffer;
  /** Omit --literal-pathspecs: for pathspec patterns, and for commands that reject the option. */
  patterns?: true;
}

/** Pids of git processes that this process started, which are not the person's git commands. */
export const ownProcesses = new Set<number>();

/** Options of every git command: no pathspec patterns (a file may be named [a].md), no hooks, no signing. */
export const fixedOptions: readonly string[] = [
  '--literal-pathspecs',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'commit.gpgSign=false',
  '-c',
  'core.quotePath=false',
  '-c',
  'gc.auto=0',
];

/** Remove GIT_* variables that a calling hook may have set, so that git uses the repository of its working directory. */
export function gitEnvironment(environment: NodeJS.ProcessEnv, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(
    ([name]) => !/^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|OBJECT_DIRECTORY|NAMESPACE|EDITOR)$/.test(name),
  );
  return {...Object.fromEntries(kept), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', ...extra};
}

/** Run git in `dir`. Must not reject: a failure is a result with a `code`. */
export function git(dir: string, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  crashPoint('spawn-git');
  return new Promise(resolve => {
    const child = execFile(
      'git',
      [...(options.patterns ? fixedOptions.slice(1) : fixedOptions), ...args],
      {
        cwd: dir,
        env: gitEnvironment(options.environment ?? process.env, options.extra),
        maxBuffer: 256 * 1024 * 1024,
      },
      (error, stdout, stderr) => {
        if (child.pid) ownProcesses.delete(child.pid);
        const code = error ? (typeof error.code === 'number' ? error.code : 127) : 0;
        resolve({code, stdout, stderr: stderr || (error && code === 127 ? error.message : '')});
      },
    );
    if (child.pid) ownProcesses.add(child.pid);
    // Git may exit before it has read all input.
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input ?? '');
  });
}

/** The name of a person who has no git identity. */
export function loginName(): string {
  return process.env.USER || process.env.LOGNAME || 'human';
}

/** Options that give git an identity if the person has none. */
async function identityOptions(dir: string): Promise<string[]> {
  const known = await git(dir, ['var', 'GIT_AUTHOR_IDENT']);
  if (known.code === 0) return [];
  const user = loginName();
  return ['-c', `user.name=${user}`, '-c', `user.email=${user}@localhost`];
}

/** Commit exactly these paths, whatever else is staged. `failed`: git's error message. */
export async function commitOnly(
  dir: string,
  paths: readonly string[],
  message: string,
): Promise<{commit: string} | {failed: string}> {
  const identity = await identityOptions(dir);
  const options = ['--quiet', '--no-verify', '--only', '-m', message];
  const done = await git(dir, [...identity, 'commit', ...options, '--', ...paths]);
  if (done.code !== 0) return {failed: done.stderr.trim() || done.stdout.trim()};
  return {commit: (await git(dir, ['rev-parse', '--short', 'HEAD'])).stdout.trim()};
}
