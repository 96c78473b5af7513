import {runSeed, shrink, sortOf} from './run-seed.ts';
import {describeStep} from './steps.ts';

/** `npm run simulate -- [--seeds N] [--seed S] [--from S] [--shrink]` */
const option = (name: string): number | undefined => {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? undefined : Number(process.argv[at + 1]);
};
const only = option('seed');
const from = only ?? option('from') ?? 1;
const count = only === undefined ? (option('seeds') ?? 200) : 1;
const began = performance.now();
const failures = new Map<string, number[]>();
let steps = 0;
for (let seed = from; seed < from + count; seed++) {
  const outcome = await runSeed(seed);
  steps += outcome.steps;
  if (outcome.violations.length === 0) continue;
  const sort = sortOf(outcome);
  const before = failures.get(sort) ?? [];
  failures.set(sort, [...before, seed]);
  if (before.length > 0 && only === undefined) continue;
  console.log(`seed ${seed} fails:\n${outcome.violations.map(each => `  ${each}`).join('\n')}`);
  if (only === undefined && !process.argv.includes('--shrink')) continue;
  const shrunk = process.argv.includes('--whole') ? {steps: [], outcome} : await shrink(seed);
  console.log(`its shortest history:\n${shrunk.steps.map(step => `  ${describeStep(step)}`).join('\n')}`);
  console.log(`what happened:\n${shrunk.outcome.log.map(line => `  ${line}`).join('\n')}`);
  console.log(shrunk.outcome.violations.map(each => `  ${each}`).join('\n'));
}
const failed = [...failures.values()].flat();
const seconds = (performance.now() - began) / 1000;
console.log(
  `${count} ${count === 1 ? 'history' : 'histories'}, ${steps} steps of daemons, ${seconds.toFixed(1)} s: ${failed.length} failed`,
);
for (const [sort, seeds] of failures) console.log(`  ${seeds.length} × ${sort}: seeds ${seeds.slice(0, 12).join(' ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
