import {closeSync} from 'node:fs';
import {nullDevice} from './devices.ts';
import {type Joint, joints} from './joints.ts';
import type {RunOutput} from './output.ts';
import type {Program, RunRequest} from './request.ts';
import {type Exit, planStart, type StartedProgram, start} from './start.ts';

/** Programs joined by pipes, and how they follow what is before them: `|` joins, everything else parts. */
export function pipelines(programs: readonly Program[]): Program[][] {
  const all: Program[][] = [];
  for (const program of programs) {
    const last = all.at(-1);
    if (program.operator === '|' && last) last.push(program);
    else all.push([program]);
  }
  return all;
}

/**
 * Starts the programs of a pipeline together. Each is put into `running` as soon as it runs. `ended` resolves when all
 * have, with how the last one did, or with the first that could not be started.
 */
export async function startPipeline(
  programs: readonly Program[],
  request: RunRequest,
  output: RunOutput,
  running: StartedProgram[],
): Promise<{ended: Promise<Exit>}> {
  const prepared = await Promise.all(programs.map(program => planStart(program, request)));
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
    // The programs have ends of their own now; ours would keep the pipes open.
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
