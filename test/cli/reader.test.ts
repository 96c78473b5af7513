import {execFile} from 'node:child_process';
import {existsSync} from 'node:fs';
import {promisify} from 'node:util';
import {describe, expect, it} from 'vitest';
import {liveFolder} from '../../src/home/live.ts';
import {agentdir, environment, main, newHome, temporary} from './run.ts';

const PATIENCE_MS = 20_000;

/** A pipe as the shell makes it: Node's own are sockets. The exit code of what writes into it is the last line. */
async function piped(home: string, args: string, reader: string): Promise<string[]> {
  const line = `"${process.execPath}" "${main}" --home "${home}" ${args} | ${reader}; echo "\${PIPESTATUS[0]}"`;
  const {stdout} = await promisify(execFile)('bash', ['-c', line], {env: environment, timeout: PATIENCE_MS});
  return stdout.trimEnd().split('\n');
}

describe.runIf(existsSync('/proc/self/fd'))('a reader that has seen enough', () => {
  it('ends agentdir log -f at once, though nothing more happens', async () => {
    const home = temporary();
    await agentdir(home, ['init', home]);
    await agentdir(home, ['start', '--once']);
    const [, code] = await piped(home, 'log -f', 'head -1');
    expect(code).toBe('0');
  });

  it('ends agentdir peek -f that has never said anything', async () => {
    const home = await newHome({});
    // The folder is made when it begins to follow: by then it has seen who reads.
    const reader = `while [ ! -d "${liveFolder(home)}" ]; do sleep 0.05; done`;
    expect(await piped(home, 'peek -f', `(${reader})`)).toEqual(['0']);
  });
});
