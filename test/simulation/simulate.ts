import {execFile} from 'node:child_process';
import {fileURLToPath} from 'node:url';

const script = fileURLToPath(new URL('../../scripts/simulate.mjs', import.meta.url));

/** `npm run simulate`, in a process of its own: what dead daemons of a simulation still throw is no fault of this one. */
export function simulate(...args: string[]): Promise<{out: string; code: number}> {
  return new Promise(resolve => {
    execFile(process.execPath, [script, ...args], {maxBuffer: 1 << 26}, (error, stdout, stderr) =>
      resolve({out: `${stdout}${stderr}`, code: error ? 1 : 0}),
    );
  });
}
