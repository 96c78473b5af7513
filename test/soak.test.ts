import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {root} from './cli/run.ts';

interface Report {
  turns: number;
  violations: {invariant: number | string; what: string; detail: string}[];
  sabotage: {name: string; seen: boolean | null}[];
}

/** Half of the deeds at least: in so short a time there may be nothing to break for some. */
const LEAST = 12;

/** Not in the gate as long as soaks still find something: SOAK=1 npx vitest run test/soak.test.ts. */
it.skipIf(process.env.SOAK === undefined)(
  'a short soak violates nothing, and sees whatever is broken on purpose',
  async () => {
    const args = ['--seconds', '8', '--agents', '12', '--seed', '7', '--sabotage', '--json'];
    const {code, stdout, stderr} = await new Promise<{code: number; stdout: string; stderr: string}>(resolve => {
      execFile(process.execPath, [join(root, 'soak/run.mjs'), ...args], {maxBuffer: 1 << 26}, (error, out, err) =>
        resolve({code: error ? Number(error.code ?? 1) : 0, stdout: out, stderr: err}),
      );
    });
    expect(stderr).toBe('');
    const {violations, sabotage, turns} = JSON.parse(stdout) as Report;
    expect(violations).toEqual([]);
    expect(turns).toBeGreaterThan(10);
    expect(sabotage.filter(({seen}) => seen === false)).toEqual([]);
    expect(sabotage.filter(({seen}) => seen === true).length).toBeGreaterThanOrEqual(LEAST);
    expect(code).toBe(0);
  },
);
