import {execFile} from 'node:child_process';

export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Run git in `dir`. Expected failures are values. Hooks, signing and the editor of the person's own commits are not for
 * ours; the repository is the one `dir` is in, whatever GIT_* a calling hook may have left in the environment.
 */
export function git(
  dir: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<GitResult> {
  const env = Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => !/^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|OBJECT_DIRECTORY|NAMESPACE|EDITOR)$/.test(name),
    ),
  );
  const fixed = [
    // A file named [a].md is that file, not a pattern.
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
  return new Promise(resolve => {
    execFile(
      'git',
      [...fixed, ...args],
      {cwd: dir, env: {...env, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0'}, maxBuffer: 256 * 1024 * 1024},
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : 127) : 0;
        resolve({code, stdout, stderr: stderr || (error && code === 127 ? error.message : '')});
      },
    );
  });
}

/** Options that give git an identity where the person has set none. */
export async function identityOptions(dir: string): Promise<string[]> {
  const known = await git(dir, ['var', 'GIT_AUTHOR_IDENT']);
  if (known.code === 0) return [];
  const user = process.env.USER || process.env.LOGNAME || 'human';
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
