import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {root} from './cli/run.ts';

/** What scripts/with-node.mjs says where there is no way to get one. */
const CANNOT_INSTALL = 3;

it.concurrent.for(['22', '24'])('the program works with Node %s', async (version, {skip}) => {
  const {code, output} = await new Promise<{code: number; output: string}>(resolve => {
    const script = join(root, 'scripts/with-node.mjs');
    execFile(process.execPath, [script, version, '--no-build'], {cwd: root}, (error, stdout, stderr) =>
      resolve({code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr}),
    );
  });
  skip(code === CANNOT_INSTALL, `Node ${version} could not be installed`);
  expect(code, output).toBe(0);
  expect(output).toContain(`Node ${version} is v${version}.`);
  expect(output).toMatch(/ passed, 0 failed/);
});
