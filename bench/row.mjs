import {appendFileSync} from 'node:fs';

/**
 * Hand a figure to the one table of `npm run bench`. `ours` and the baseline have the same unit; `goal` says what of them is
 * bounded: the figure itself, its ratio to the baseline, or the difference between the two.
 */
export function row(name, {ours, unit = 'ms', baseline, goal}) {
  hand(judged({suite: suiteName(), name, ours, unit, ...(baseline && {baseline}), ...(goal && {goal})}));
}

/** What could not be measured here, and why. */
export function skipped(name, why) {
  console.log(`\n${name}: not measured, ${why}`);
  hand({suite: suiteName(), name, skipped: why});
}

export const atMost = (limit, from) => ({what: 'figure', is: '≤', limit, from});
export const atLeast = (limit, from) => ({what: 'figure', is: '≥', limit, from});
export const ratioAtMost = (limit, from) => ({what: 'ratio', is: '≤', limit, from});
export const ratioAtLeast = (limit, from) => ({what: 'ratio', is: '≥', limit, from});
export const moreAtMost = (limit, from) => ({what: 'difference', is: '≤', limit, from});

/** The row with its ratio, and whether the goal is met. A figure that is no number meets none. */
export function judged(one) {
  const {ours, baseline, goal} = one;
  const figures = {ours: finite(ours), ...(baseline && {baseline: {...baseline, value: finite(baseline.value)}})};
  const ratio = baseline && finite(ours / baseline.value);
  const found = {...one, ...figures, ...(baseline && {ratio})};
  if (!goal) return found;
  const value = {figure: figures.ours, ratio, difference: baseline && finite(ours - baseline.value)}[goal.what] ?? null;
  const met = value !== null && (goal.is === '≤' ? value <= goal.limit : value >= goal.limit);
  return {...found, met};
}

/** JSON has no NaN. */
const finite = value => (Number.isFinite(value) ? value : null);

const suiteName = () => process.env.AGENTDIR_BENCH_SUITE ?? '';

/** A line in a file, at once: a suite that fails later has told what it knew. */
function hand(one) {
  const path = process.env.AGENTDIR_BENCH_ROWS;
  if (path) appendFileSync(path, `${JSON.stringify(one)}\n`);
}
