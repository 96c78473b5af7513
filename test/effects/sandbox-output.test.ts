import {writeSync} from 'node:fs';
import {expect, it} from 'vitest';
import {openOutput} from '../../src/effects/sandbox/output.ts';
import type {RunRequest} from '../../src/effects/sandbox/run.ts';

it('what was written is handed on, however late we come to read it', async () => {
  let said = '';
  const onOutput = (_: string, chunk: Buffer) => {
    said += chunk;
  };
  const output = await openOutput({mostOutput: 1e6, onOutput} as Partial<RunRequest> as RunRequest, () => {});
  const text = 'x'.repeat(60_000);
  writeSync(output.stdout, text);
  const closed = output.close();
  // As on a machine that has no time for us.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
  await closed;
  expect(said.length).toBe(text.length);
});
