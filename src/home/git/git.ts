import {execFile} from 'node:child_process';
import {crashPoint} from '../disk/crash.ts';

export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface GitOptions {
  environment?: NodeJS.ProcessEnv;
  /** Set for this command alone, GIT_INDEX_FILE included. */
  extra?: Record<string, string>;
  input?: string | Buffer;
  /** For the few commands that take paths as they are and refuse to be told so. */
  patterns?: true;
}

/** Ids of git processes that are ours: whoever looks for a person's git commands must not find these. */
export const ownProcesses = new Set<number>();

/** A file named [a].md is that file, not a pattern; hooks and signing of the person's own commits are not for ours. */
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

/** The repository is the one git is run in, whatever GIT_* a calling hook may have left in the environment. */
export function gitEnvironment(environment: NodeJS.ProcessEnv, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(
    ([name]) => !/^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|OBJECT_DIRECTORY|NAMESPACE|EDITOR)$/.test(name),
  );
  return {...Object.fromEntries(kept), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', ...extra};
}

/** Run git in `dir`. Expected failures are values. */
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
    // Git may end before it has read all of it.
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input ?? '');
  });
}

/** Who a person is where git knows nobody: the one who is logged in. */
export function loginName(): string {
  return process.env.USER || process.env.LOGNAME || 'human';
}

/** Options that give git an identity where the person has set none. */
async function identityOptions(dir: string): Promise<string[]> {
  const known = await git(dir, ['var', 'GIT_AUTHOR_IDENT']);
  if (known.code === 0) return [];
  const user = loginName();
  return ['-c', `user.name=${user}`, '-c', `user.email=${user}@localhost`];
}

/** Commit exactly these paths, whatever else the person has staged. Failure is a value: git's own words. */
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
