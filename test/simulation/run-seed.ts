import {type Outcome, type Sabotage, Simulation} from './simulation.ts';
import {type Step, stepsOf} from './steps.ts';

export type {Outcome} from './simulation.ts';

export async function runSeed(seed: number, sabotage?: Sabotage, steps = stepsOf(seed)): Promise<Outcome> {
  return new Simulation(seed, sabotage).run(steps);
}

/** The shortest history found that still fails: whole parts are left out first, then single steps. */
export async function shrink(
  seed: number,
  sabotage?: Sabotage,
  history = stepsOf,
  most = 200,
): Promise<{steps: Step[]; outcome: Outcome}> {
  let steps = history(seed);
  let outcome = await runSeed(seed, sabotage, steps);
  const kindOfFailure = sortOf(outcome);
  let tries = 0;
  for (let size = steps.length >> 1; size >= 1 && tries < most; size = size === 1 ? 0 : size >> 1) {
    for (let at = 0; at < steps.length && tries < most; ) {
      tries++;
      const fewer = [...steps.slice(0, at), ...steps.slice(at + size)];
      const tried = await runSeed(seed, sabotage, fewer);
      if (tried.violations.length > 0 && sortOf(tried) === kindOfFailure) [steps, outcome] = [fewer, tried];
      else at += size;
    }
  }
  return {steps, outcome};
}

/** What is wrong, without names and numbers. */
export function sortOf({violations: [first = '']}: Outcome): string {
  return first.replace(/\S*\d\S*/g, '#').slice(0, 60);
}
