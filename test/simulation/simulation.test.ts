import {execFile} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {thorough} from '../cli/run.ts';

const script = fileURLToPath(new URL('../../scripts/simulate.mjs', import.meta.url));

/** In a process of its own: what dead daemons of a simulation still throw is no fault of this one. */
function simulate(...args: string[]): Promise<{out: string; code: number}> {
  return new Promise(resolve => {
    execFile(process.execPath, [script, ...args], {maxBuffer: 1 << 26}, (error, stdout, stderr) =>
      resolve({out: `${stdout}${stderr}`, code: error ? 1 : 0}),
    );
  });
}

const SEEDS = thorough ? 250 : 60;
/** The daemon dies at every step of the story, or at one in so many. */
const STRIDE = thorough ? 2 : 12;

describe('a simulated home', () => {
  it(`keeps every invariant in ${SEEDS} histories`, {timeout: 900_000}, async () => {
    const {out, code} = await simulate('--seeds', `${SEEDS}`);
    expect(code, out).toBe(0);
  });

  it('keeps every invariant wherever its daemon dies', {timeout: 900_000}, async () => {
    const {out, code} = await simulate('--every', `${STRIDE}`);
    expect(code, out).toBe(0);
    expect(out).toMatch(/a daemon killed at one in \d+ of \d{3} steps/);
  });

  it.each(['no sync', 'no write-ahead', 'publish out of order', 'merge from the wrong base', 'run before marking'])(
    'shows what is broken on purpose: %s',
    {timeout: 600_000},
    async what => {
      const {out, code} = await simulate('--seeds', '120', '--break', what);
      expect(code, out).toBe(1);
      expect(out).toMatch(/seed \d+ fails/);
    },
  );
});
