import {type Outcome, runSeed, shrink, sortOf} from './run-seed.ts';
import {sabotages} from './sabotage.ts';
import {describeStep} from './steps.ts';

/** `npm run simulate -- [--seeds N] [--from S] [--seed S,S…] [--break WHAT] [--whole]`; see docs/simulation.md. */
function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? undefined : process.argv[at + 1];
}

const named = option('seed')?.split(',').map(Number);
const from = Number(option('from') ?? 1);
const seeds = named ?? Array.from({length: Number(option('seeds') ?? 200)}, (_, i) => from + i);
const broken = option('break');
const sabotage = broken === undefined ? undefined : sabotages[broken];
if (broken !== undefined && !sabotage) throw new Error(`--break one of ${Object.keys(sabotages).join(', ')}`);

const began = performance.now();
const failures = new Map<string, number[]>();
let steps = 0;
let count = 0;
for (const seed of seeds) {
  const outcome = await runSeed(seed, sabotage);
  steps += outcome.steps;
  count++;
  if (outcome.violations.length === 0) continue;
  const sort = sortOf(outcome);
  const before = failures.get(sort) ?? [];
  failures.set(sort, [...before, seed]);
  if (before.length > 0 && !named) continue;
  console.log(`seed ${seed} fails:\n${lines(outcome.violations)}`);
  if (sabotage) break;
  if (named) show(process.argv.includes('--whole') ? outcome : await shortest(seed));
}
const failed = [...failures.values()].flat();
const seconds = (performance.now() - began) / 1000;
console.log(`${count} histories, ${steps} steps of daemons, ${seconds.toFixed(1)} s: ${failed.length} failed`);
for (const [sort, all] of failures) console.log(`  ${all.length} × ${sort}: seeds ${all.slice(0, 20).join(' ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;

async function shortest(seed: number): Promise<Outcome> {
  const {steps: left, outcome} = await shrink(seed, sabotage);
  console.log(`the shortest history that still fails:\n${lines(left.map(describeStep))}`);
  return outcome;
}

function show({log, violations}: Outcome): void {
  console.log(`what happened:\n${lines(log)}\n${lines(violations)}`);
}

function lines(list: readonly string[]): string {
  return list.map(each => `  ${each}`).join('\n');
}
