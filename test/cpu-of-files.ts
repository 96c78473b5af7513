import childProcess from 'node:child_process';
import {appendFileSync, readFileSync} from 'node:fs';
import {afterAll, expect} from 'vitest';
import {ticksOfHosts} from './cli/hosts.ts';

/** `TEST_CPU=FILE npm test` appends a line of JSON for each test file: its CPU seconds, children included, and what it started. */
const target = process.env.TEST_CPU;

const counted = Symbol.for('agentdir.counted');

/** Called once for each test file. */
export function measureFile(): void {
  if (target === undefined) return;
  const {ChildProcess} = childProcess as unknown as {ChildProcess: {prototype: Record<string | symbol, unknown>}};
  const prototype = ChildProcess.prototype;
  if (!prototype[counted]) {
    const original = prototype.spawn as (options: {args?: string[]}) => unknown;
    prototype[counted] = new Map<string, number>();
    prototype.spawn = function (this: unknown, options: {args?: string[]}) {
      const [file = '', ...args] = options.args ?? [];
      const isOurs = args[0]?.endsWith('bin/main.js') === true;
      const what = isOurs
        ? `agentdir ${args.find((arg, i) => i > 0 && !arg.startsWith('-')) ?? ''}`
        : file.replace(/.*\//, '');
      const all = prototype[counted] as Map<string, number>;
      all.set(what, (all.get(what) ?? 0) + 1);
      return original.call(this, options);
    };
  }
  const all = prototype[counted] as Map<string, number>;
  all.clear();
  const before = cpuSeconds();
  afterAll(() => {
    const now = cpuSeconds();
    const file = expect.getState().testPath?.replace(/.*\/test\//, '');
    appendFileSync(
      target,
      `${JSON.stringify({file, self: +(now.self - before.self).toFixed(2), children: +(now.children - before.children).toFixed(2), starts: Object.fromEntries(all)})}\n`,
    );
  });
}

/** In clock ticks of 10 ms: those of this process, and of its children that have ended. */
function cpuSeconds(): {self: number; children: number} {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
    .map(Number);
  const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15);
  return {self: (utime + stime) / 100, children: (cutime + cstime + ticksOfHosts()) / 100};
}
