import {closeSync} from 'node:fs';
import {setTimeout as pause} from 'node:timers/promises';
import {type HostGroup, makeHostGroup} from './control-groups.ts';
import {cutShort} from './cut-short.ts';
import {nullDevice} from './devices.ts';
import {type Joint, joints} from './joints.ts';
import {endLeftovers} from './leftovers.ts';
import {commandLimits, limitRun, watchSpace} from './limits.ts';
import {openOutput, type RunOutput} from './output.ts';
import {markedProcesses} from './processes.ts';
import {realWorkspace} from './profile.ts';
import type {Program, RunRequest, RunResult} from './request.ts';
import {type Exit, planStart, type RunGroups, type StartedProgram, start} from './start.ts';

export type {Program, RunRequest, RunResult} from './request.ts';

/** Programs of a line that only reads: each may use as much memory as all of a control group together. */
const MOST_WITHOUT_GROUP = 4;
/** Between SIGTERM and SIGKILL. */
const graceMs = 300;

/**
 * Never throws. All processes of the run have ended when it resolves, unless it says `survived`. On the host, where no
 * control group can be made, a process that left its session *and* cleared its environment (`env -i setsid …`) is not found.
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
  const confined = real.programs.some(program => program.confined);
  const limits = real.limits ?? commandLimits();
  const needsGroup = !real.readOnly || real.programs.length > MOST_WITHOUT_GROUP;
  const limited = confined ? limitRun(limits, needsGroup) : undefined;
  const unwatch = confined && !real.readOnly ? watchSpace(real.workspace, limits, () => cut.now('disk')) : undefined;
  try {
    const output = await openOutput(real, () => cut.now('output'));
    const host = real.programs.some(program => !program.confined) ? makeHostGroup(real.mark) : undefined;
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
          const {ended} = await startPipeline(programs, real, {limited, host}, output, running);
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
    } finally {
      if (real.programs.some(program => !program.confined))
        survivors = (await survivorsOnHost(real, host)) || survivors;
      await output.close();
    }
    const why = cut.why();
    const error = exit.error ?? (survivors ? 'one of its processes could not be killed' : undefined);
    const exceeded = limited?.exceeded() ?? [];
    return {
      how: why ?? (exit.error === undefined ? 'ended' : 'failed'),
      ...(why || exit.error !== undefined ? {} : {exitCode: exit.code, signal: exit.signal}),
      ...(error === undefined ? {} : {error}),
      ...(survivors && {survived: true}),
      ...(exceeded.length === 0 ? {} : {exceeded}),
    };
  } finally {
    cut.over();
    unwatch?.();
    limited?.end();
  }
}

/** End what still runs on the host. Whether something survived, or nobody could look. */
async function survivorsOnHost({mark}: RunRequest, host: HostGroup | undefined): Promise<boolean> {
  if ((await host?.end().catch(() => false)) === false) return true;
  return endLeftovers(mark, markedProcesses).then(
    () => false,
    () => true,
  );
}

/** Group programs into pipelines: `|` continues one, every other operator starts the next. */
function pipelines(programs: readonly Program[]): Program[][] {
  const all: Program[][] = [];
  for (const program of programs) {
    const last = all.at(-1);
    if (program.operator === '|' && last) last.push(program);
    else all.push([program]);
  }
  return all;
}

/**
 * Start the programs of a pipeline together and add each to `running` once it runs. `ended` resolves when all have
 * ended, with the exit of the last, or as soon as one could not be started.
 */
async function startPipeline(
  programs: readonly Program[],
  request: RunRequest,
  groups: RunGroups,
  output: RunOutput,
  running: StartedProgram[],
): Promise<{ended: Promise<Exit>}> {
  const prepared = await Promise.all(programs.map(program => planStart(program, request, groups)));
  const nothing = await nullDevice();
  const between: Joint[] = await joints(programs.length - 1);
  const exits: Promise<Exit>[] = [];
  try {
    prepared.forEach((one, i) => {
      if ('error' in one) exits.push(Promise.resolve({code: 126, signal: null, error: one.error}));
      else if ('code' in one) {
        output.say(one.says);
        exits.push(Promise.resolve({code: one.code, signal: null}));
      } else {
        const stdio = [between[i - 1]?.read ?? nothing, between[i]?.write ?? output.stdout, output.stderr];
        const started = start(one, stdio, nothing);
        running.push(started);
        exits.push(started.exited);
      }
    });
  } finally {
    // Close our copies: they would keep the pipes open.
    for (const fd of between.flatMap(joint => [joint.read, joint.write])) closeSync(fd);
  }
  return {ended: outcome(exits)};
}

function outcome(exits: readonly Promise<Exit>[]): Promise<Exit> {
  return new Promise(resolve => {
    for (const exit of exits)
      exit.then(one => {
        if (one.error !== undefined) resolve(one);
      });
    Promise.all(exits).then(all => resolve(all.at(-1) ?? {code: 0, signal: null}));
  });
}

async function askToEnd(running: readonly StartedProgram[]): Promise<void> {
  await Promise.all(running.filter(one => one.ask()).map(one => one.exited));
}
