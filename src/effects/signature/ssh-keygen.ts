import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {systemPath} from '../sandbox/environment.ts';

/** `problem`: ssh-keygen did not run to its end. */
export type KeygenResult = {code: number; stdout: string; stderr: string} | {problem: string};

const MOST_OUTPUT = 64 * 1024;

/** Run ssh-keygen without a shell, in an empty environment. Never throws. */
export function sshKeygen(
  args: readonly string[],
  input: string,
  timeoutMs: number,
  environment: NodeJS.ProcessEnv = {},
): Promise<KeygenResult> {
  return new Promise(resolve => {
    // In UTC, times in a signers file mean the same everywhere.
    const env = {PATH: systemPath.join(':'), LC_ALL: 'C', TZ: 'UTC', ...environment};
    const child = spawn('ssh-keygen', args, {env, timeout: timeoutMs, killSignal: 'SIGKILL'});
    const said = {stdout: '', stderr: ''};
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] = (said[name] + text).slice(0, MOST_OUTPUT);
      });
    child.on('error', error => resolve({problem: startFailure(error as NodeJS.ErrnoException)}));
    child.on('close', code =>
      resolve(code === null ? {problem: `ssh-keygen did not end within ${timeoutMs / 1000} s`} : {code, ...said}),
    );
    // ssh-keygen may exit before it has read all input.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

function startFailure({code, message}: NodeJS.ErrnoException): string {
  if (code !== 'ENOENT') return `ssh-keygen cannot be run: ${message}`;
  return 'ssh-keygen is not installed, and signatures need it: apt-get install openssh-client';
}

/** Create private temporary files for one run and remove them afterwards. */
export async function withFiles<T>(
  files: Readonly<Record<string, string>>,
  use: (place: (name: string) => string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'agentdir-signature-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, {mode: 0o600});
    return await use(name => join(folder, name));
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}
