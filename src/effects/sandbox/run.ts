import {setTimeout as pause} from 'node:timers/promises';
import {cutShort} from './cut-short.ts';
import {endLeftovers} from './leftovers.ts';
import {openOutput} from './output.ts';
import {pipelines, startPipeline} from './pipeline.ts';
import {markedProcesses} from './processes.ts';
import {realWorkspace} from './profile.ts';
import type {RunRequest, RunResult} from './request.ts';
import type {Exit, StartedProgram} from './start.ts';

export type {Program, RunRequest, RunResult} from './request.ts';

/** Between SIGTERM and SIGKILL. */
const graceMs = 300;

/**
 * Never throws. When it resolves, nothing of it runs any more; but on the host a process can hide: one that left its
 * session *and* put away its environment (`env -i setsid …`) is not found, and lives on.
 */
export async function runPrograms(request: RunRequest): Promise<RunResult> {
  const begun = performance.now();
  const ended = await runLine(request).catch((error: Error) => ({how: 'failed' as const, error: error.message}));
  return {exitCode: null, signal: null, ...ended, ms: performance.now() - begun};
}

async function runLine(
  request: RunRequest,
): Promise<Omit<RunResult, 'exitCode' | 'signal' | 'ms'> & Partial<RunResult>> {
  const place = realWorkspace(request);
  if ('problem' in place) return {how: 'failed', error: place.problem};
  const real = {...request, ...place};
  const cut = cutShort(real);
  try {
    const output = await openOutput(real, () => cut.now('output'));
    let exit: Exit = {code: 0, signal: null};
    let survivors = false;
    try {
      const all = pipelines(real.programs);
      for (const [i, programs] of all.entries()) {
        const operator = programs[0]?.operator;
        if ((operator === '&&' && exit.code !== 0) || (operator === '||' && exit.code === 0)) continue;
        if (cut.why()) break;
        const running: StartedProgram[] = [];
        try {
          const {ended} = await startPipeline(programs, real, output, running);
          if (i === all.length - 1) output.allStarted();
          real.onStarted?.();
          exit = await Promise.race([ended, cut.happened.then(() => exit)]);
          if (cut.why()) await Promise.race([askToEnd(running), pause(graceMs)]);
        } finally {
          const gone = await Promise.all(running.map(one => one.end()));
          survivors ||= gone.includes(false);
        }
        if (exit.error !== undefined) break;
      }
      if (real.programs.some(program => !program.confined)) await endLeftovers(real.mark, markedProcesses);
    } finally {
      await output.close();
    }
    const why = cut.why();
    const error = exit.error ?? (survivors ? 'a process of it could not be killed' : undefined);
    return {
      how: why ?? (exit.error === undefined ? 'ended' : 'failed'),
      ...(why || exit.error !== undefined ? {} : {exitCode: exit.code, signal: exit.signal}),
      ...(error === undefined ? {} : {error}),
    };
  } finally {
    cut.over();
  }
}

async function askToEnd(running: readonly StartedProgram[]): Promise<void> {
  await Promise.all(running.filter(one => one.ask()).map(one => one.exited));
}
