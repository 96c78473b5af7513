import {parseArgs} from 'node:util';
import {rows} from '../../src/policy/command/table/rows.ts';
import {judge} from '../../src/policy/judge.ts';
import {startBash} from './bash-run.ts';
import {fuzz} from './fuzz.ts';
import {fuzzRows, readByTable} from './fuzz-rows.ts';
import {generous} from './generous.ts';
import {startTracer} from './traced-run.ts';

/**
 * `npm run fuzz -- --lines N --uses N --seed S`: exit 1 if bash runs anything but what the policy said, or if a program
 * does more than the table of the policy says of a use that it calls harmless.
 */
const {values} = parseArgs({options: {lines: {type: 'string'}, uses: {type: 'string'}, seed: {type: 'string'}}});
const lines = Number(values.lines ?? 100_000);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const bash = startBash();
if (!bash) {
  console.log('there is no bash to compare with');
  process.exit(1);
}
console.log(`${lines} lines, seed ${seed}, ${bash.sandbox}`);
const start = performance.now();
const progress = process.stdout.isTTY ? (done: number) => process.stdout.write(`\r${done}`) : undefined;
const outcome = fuzz({bash, policy: generous, judge, lines, seed, ...(progress && {progress})});
bash.close();
const {allowed, asked, denied, commands, slowest, violations} = outcome;
const seconds = (performance.now() - start) / 1000;
console.log(
  `\r${outcome.lines} lines in ${seconds.toFixed(1)} s: ${allowed} allowed (${commands} commands ran), ${asked} asked, ${denied} denied`,
);
console.log(
  `slowest verdict ${slowest.ms.toFixed(1)} ms: ${JSON.stringify(slowest.line.slice(0, 60))}, ${slowest.line.length} characters`,
);
for (const {line, why, said, ran} of violations) {
  console.log(
    `VIOLATION: ${why}\n  line  ${JSON.stringify(line)}\n  said  ${JSON.stringify(said)}\n  bash  ${JSON.stringify(ran)}`,
  );
}
console.log(
  `${violations.length} violations${violations.length > 0 ? `; again: npm run fuzz -- --lines ${lines} --seed ${seed}` : ''}`,
);

const uses = Number(values.uses ?? 3000);
const wrongUses = uses > 0 ? await tryUses() : 0;
process.exitCode = violations.length + wrongUses > 0 ? 1 : 0;

/** Number of uses that the table calls harmless, although the program shows otherwise. */
async function tryUses(): Promise<number> {
  const tracers = [startTracer(), startTracer()].filter(tracer => tracer !== undefined);
  if (tracers.length === 0) {
    console.log('SKIPPED: the table of commands was not tried, because bubblewrap or strace is missing');
    return 0;
  }
  const begun = performance.now();
  const tried = await fuzzRows({
    rows,
    read: readByTable,
    tracers,
    runs: uses,
    scripts: Math.ceil(uses / 10),
    seed,
    ...(progress && {progress}),
  });
  for (const tracer of tracers) tracer.close();
  const took = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`\r${tried.ran} uses of commands in ${took} s; not installed: ${tried.missing.join(' ') || 'none'}`);
  for (const {argv, why} of tried.violations) console.log(`VIOLATION: ${argv.join(' ')}\n  ${why}`);
  console.log(`${tried.violations.length} uses do more than the table says`);
  return tried.violations.length;
}
