import {parseArgs} from 'node:util';
import {judge} from '../../src/policy/judge.ts';
import {startBash} from './bash-run.ts';
import {fuzz} from './fuzz.ts';
import {generous} from './generous.ts';

/** `npm run fuzz -- --lines N --seed S`: exit 1 if bash runs anything but what the policy said. */
const {values} = parseArgs({options: {lines: {type: 'string'}, seed: {type: 'string'}}});
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
process.exitCode = violations.length > 0 ? 1 : 0;
