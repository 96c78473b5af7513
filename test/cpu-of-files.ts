import childProcess from 'node:child_process';
import {appendFileSync, readFileSync} from 'node:fs';
import {afterAll, expect} from 'vitest';
import {hostPids} from './cli/hosts.ts';
import {countStart, starterPids, starts} from './cli/starter.ts';

/** `TEST_CPU=FILE npm test` appends a line of JSON for each test file: its CPU seconds, children included, and what it started. */
const target = process.env.TEST_CPU;

/** Called once for each test file. */
export function measureFile(): void {
  if (target === undefined) return;
  countSpawns();
  starts.clear();
  const before = cpuSeconds();
  afterAll(() => {
    const now = cpuSeconds();
    const file = expect.getState().testPath?.replace(/.*\/test\//, '');
    const rss = Math.round(process.memoryUsage.rss() / 2 ** 20);
    appendFileSync(
      target,
      `${JSON.stringify({file, self: +(now.self - before.self).toFixed(2), children: +(now.children - before.children).toFixed(2), rss, starts: Object.fromEntries(starts)})}\n`,
    );
  });
}

const counted = Symbol.for('agentdir.counted');

/** Programs that this process starts itself count like those of `starter.ts`. */
function countSpawns(): void {
  const {prototype} = (childProcess as unknown as {ChildProcess: {prototype: Record<string | symbol, unknown>}})
    .ChildProcess;
  if (prototype[counted]) return;
  prototype[counted] = true;
  const original = prototype.spawn as (options: {args?: string[]}) => unknown;
  prototype.spawn = function (this: unknown, options: {args?: string[]}) {
    const [file = '', ...args] = options.args ?? [];
    countStart(file, args);
    return original.call(this, options);
  };
}

/** In clock ticks of 10 ms: those of this process, and of its children that have ended. */
function cpuSeconds(): {self: number; children: number} {
  const [utime = 0, stime = 0, cutime = 0, cstime = 0] = ticksOf('self');
  // These have not ended, so nobody else counts them.
  const helpers = [...hostPids(), ...starterPids()].flatMap(ticksOf);
  return {self: (utime + stime) / 100, children: helpers.reduce((sum, ticks) => sum + ticks, cutime + cstime) / 100};
}

/** Of a process, and of its children that have ended, in user and system mode. */
function ticksOf(pid: number | 'self'): number[] {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return fields.slice(11, 15).map(Number);
}
