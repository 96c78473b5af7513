import {brokenSource} from './broken-source.mjs';
import {type Outcome, runSeed, shrink, sortOf} from './run-seed.ts';
import {sabotages} from './sabotage.ts';
import {delegationsOf, describeStep, rotationsOf, stepsOf, storyWith} from './steps.ts';

/** `npm run simulate -- [--rotations|--delegations] [--seeds N] [--from S] [--seed S,S…] [--break WHAT] [--whole]`, or `--every [N]`; see docs/simulation.md. */
function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? undefined : process.argv[at + 1];
}

const named = option('seed')?.split(',').map(Number);
const from = Number(option('from') ?? 1);
const seeds = named ?? Array.from({length: Number(option('seeds') ?? 200)}, (_, i) => from + i);
const broken = option('break');
const sabotage = broken === undefined ? undefined : sabotages[broken];
const breakages = [...Object.keys(sabotages), ...Object.keys(brokenSource)];
if (broken !== undefined && !breakages.includes(broken)) throw new Error(`--break one of ${breakages.join(', ')}`);

const kind = process.argv.find(each => each === '--rotations' || each === '--delegations');
const history = kind === '--rotations' ? rotationsOf : kind === '--delegations' ? delegationsOf : stepsOf;

if (process.argv.includes('--every')) process.exit(await killAtEveryStep(Number(option('every') ?? 1) || 1));

const began = performance.now();
const failures = new Map<string, number[]>();
let steps = 0;
let count = 0;
for (const seed of seeds) {
  const outcome = await runSeed(seed, sabotage, history(seed));
  steps += outcome.steps;
  count++;
  if (outcome.violations.length === 0) continue;
  const sort = sortOf(outcome);
  const before = failures.get(sort) ?? [];
  failures.set(sort, [...before, seed]);
  if (before.length > 0 && !named) continue;
  console.log(`seed ${seed} fails:\n${lines(outcome.violations)}`);
  if (broken !== undefined) break;
  if (named) show(process.argv.includes('--whole') ? outcome : await shortest(seed));
}
const failed = [...failures.values()].flat();
const seconds = (performance.now() - began) / 1000;
console.log(`${count} histories, ${steps} steps of daemons, ${seconds.toFixed(1)} s: ${failed.length} failed`);
for (const [sort, all] of failures) console.log(`  ${all.length} × ${sort}: seeds ${all.slice(0, 20).join(' ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;

/** The same short history again and again: its daemon dies at the first step, at the second, and so on; by a kill, then by a power cut. */
async function killAtEveryStep(stride: number): Promise<number> {
  const began = performance.now();
  const {steps} = await runSeed(1, sabotage, storyWith('kill', Number.POSITIVE_INFINITY, undefined));
  let count = 0;
  let failed = 0;
  for (const [how, by] of [
    ['kill', stride],
    ['power', 5 * stride],
  ] as const)
    for (let at = 0; at <= steps; at += by) {
      // Recovery is interrupted, too: at another of its steps each time.
      const again = at % 2 === 0 ? undefined : (at * 7) % 60;
      const {violations, log} = await runSeed(1, sabotage, storyWith(how, at, again));
      count++;
      if (violations.length === 0) continue;
      failed++;
      console.log(
        `${how} at step ${at}${again === undefined ? '' : `, then at step ${again}`} fails:\n${lines(violations)}`,
      );
      if (failed === 1) console.log(`what happened:\n${lines(log)}`);
    }
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    `${count} histories, a daemon killed at one in ${stride} of ${steps} steps, ${seconds} s: ${failed} failed`,
  );
  return failed > 0 ? 1 : 0;
}

async function shortest(seed: number): Promise<Outcome> {
  const {steps: left, outcome} = await shrink(seed, sabotage, history);
  console.log(`the shortest history that still fails:\n${lines(left.map(describeStep))}`);
  return outcome;
}

function show({log, violations}: Outcome): void {
  console.log(`what happened:\n${lines(log)}\n${lines(violations)}`);
}

function lines(list: readonly string[]): string {
  return list.map(each => `  ${each}`).join('\n');
}
