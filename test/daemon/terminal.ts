import {spawn} from 'node:child_process';
import {accessSync, constants} from 'node:fs';
import {delimiter, join} from 'node:path';
import {onTestFinished} from 'vitest';
import {environment, until} from '../cli/run.ts';

/** A program under a pseudo-terminal, and a person at it. */
export interface Terminal {
  /** Press these keys. */
  type: (keys: string) => void;
  /** Until the screen has shown this, after what was waited for before: what of it. */
  shows: (text: RegExp) => Promise<string>;
  exited: Promise<number | string | null>;
}

/** Whether a program is there to test with. */
export function installed(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some(folder => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what terminals are told is made of them
const SEQUENCES = /\u001b(?:\[[0-9;?>]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78])/g;

/** `command` is a line for sh. It is killed when the test ends. */
export function terminal(cwd: string, command: string, columns = 120): Terminal {
  const child = spawn('script', ['-qec', `stty rows 40 cols ${columns}; exec ${command}`, '/dev/null'], {
    cwd,
    env: {...environment, TERM: 'xterm', LC_ALL: 'C.UTF-8'},
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  let seen = 0;
  child.stdout.on('data', chunk => {
    screen += chunk;
  });
  // Keys pressed after it ended are nobody's.
  child.stdin.on('error', () => {});
  const exited = new Promise<number | string | null>(resolve =>
    child.once('exit', (code, signal) => resolve(code ?? signal)),
  );
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
  });
  return {
    type: keys => void child.stdin.write(keys),
    shows: async text => {
      const found = await until(
        () => screen.replace(SEQUENCES, '').slice(seen).match(text),
        match => match !== null,
      ).catch(() => {
        throw new Error(`waited for ${text}; shown since: ${screen.replace(SEQUENCES, '').slice(seen)}`);
      });
      const [shown = ''] = found ?? [];
      seen += (found?.index ?? 0) + shown.length;
      return shown;
    },
    exited,
  };
}
