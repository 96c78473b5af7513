import {spawn} from 'node:child_process';
import {fixedOptions, gitEnvironment} from './git.ts';

/** The NUL-terminated fields that a git command prints, in chunks as they arrive. `failed`: the message to throw if git fails. */
export async function* gitFields(home: string, args: readonly string[], failed?: string): AsyncGenerator<string[]> {
  const child = spawn('git', [...fixedOptions, ...args], {
    cwd: home,
    env: gitEnvironment(process.env),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<number | null>(done => child.once('close', done));
  let rest = '';
  try {
    child.stdout.setEncoding('utf8');
    for await (const chunk of child.stdout as AsyncIterable<string>) {
      const fields = (rest + chunk).split('\0');
      rest = fields.pop() ?? '';
      yield fields;
    }
    if (failed !== undefined && (await ended) !== 0) throw new Error(failed);
  } finally {
    child.kill();
  }
}
