import {execFile} from 'node:child_process';
import {fileURLToPath} from 'node:url';

export const program = fileURLToPath(new URL('../bin/main.js', import.meta.url));

/** Git must not depend on who runs this. */
export const environment = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};

/** Never throws: what became of it. */
export function run(command, args, cwd, more = {}) {
  return new Promise(resolve => {
    const env = {...environment, ...more.env};
    execFile(command, args, {cwd, env, maxBuffer: 1 << 30, encoding: 'utf8'}, (error, stdout, stderr) => {
      resolve({code: error ? Number(error.code ?? 1) : 0, stdout, stderr});
    });
  });
}

/** When it returns it is over: git's tidying up does not go on behind our back. */
export const git = (home, ...args) => run('git', ['-c', 'gc.autoDetach=false', ...args], home);
export const agentdir = (home, ...args) => run(process.execPath, [program, ...args], home);

export async function mustGit(home, ...args) {
  const {code, stdout, stderr} = await git(home, ...args);
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout;
}

export const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

/** Until it holds, or the time is over: whether it does. */
export async function until(holds, ms, every = 50) {
  const end = performance.now() + ms;
  for (;;) {
    if (await holds()) return true;
    if (performance.now() > end) return false;
    await pause(every);
  }
}
