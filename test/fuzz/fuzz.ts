import type {Policy} from '../../src/formats/rule.ts';
import {denies} from '../../src/policy/command/deny.ts';
import type {Segment} from '../../src/policy/command/plain.ts';
import type {Judgement} from '../../src/policy/judge.ts';
import {type Bash, fails, type Ran} from './bash-run.ts';
import {generate} from './generate.ts';
import {randomFrom} from './random.ts';

export type Judge = (line: string, policy: Policy) => Judgement;

export interface Violation {
  line: string;
  why: string;
  /** What the policy said would run: commands of a pipeline together. */
  said: string[][][];
  /** What bash ran; undefined if it was not asked, or did not live to tell. */
  ran: Ran | undefined;
}

export interface Outcome {
  lines: number;
  allowed: number;
  asked: number;
  denied: number;
  /** Commands that bash ran for the allowed lines. */
  commands: number;
  slowest: {line: string; ms: number};
  violations: Violation[];
}

export interface FuzzOptions {
  bash: Bash;
  policy: Policy;
  judge: Judge;
  lines: number;
  seed: number;
  progress?: (done: number) => void;
}

const BATCH = 2000;

/** Generate lines, judge them, let bash run those that are allowed, and compare. Ends with the first batch that has violations. */
export function fuzz({bash, policy, judge, lines, seed, progress}: FuzzOptions): Outcome {
  const random = randomFrom(seed);
  const outcome: Outcome = {
    lines: 0,
    allowed: 0,
    asked: 0,
    denied: 0,
    commands: 0,
    slowest: {line: '', ms: 0},
    violations: [],
  };
  while (outcome.lines < lines && outcome.violations.length === 0) {
    const allowed: Judged[] = [];
    for (let left = Math.min(BATCH, lines - outcome.lines); left > 0; left--) {
      const line = generate(random);
      outcome.lines++;
      const start = performance.now();
      const judgement = judged(judge, line, policy);
      const ms = performance.now() - start;
      if (ms > outcome.slowest.ms) outcome.slowest = {line, ms};
      if ('why' in judgement) outcome.violations.push(judgement);
      else if (judgement.verdict === 'ask') outcome.asked++;
      else if (judgement.verdict === 'deny') outcome.denied++;
      else allowed.push({line, judgement});
    }
    outcome.allowed += allowed.length;
    const {violations, commands} = runAll(allowed, {bash, policy});
    outcome.violations.push(...violations);
    outcome.commands += commands;
    progress?.(outcome.lines);
  }
  outcome.violations = outcome.violations.slice(0, 3).map(violation => shrink(violation, {bash, policy, judge}));
  return outcome;
}

type Judged = {line: string; judgement: Judgement};

/** Those of the lines that are violations. */
export function tryLines(
  lines: readonly string[],
  {bash, policy, judge}: Pick<FuzzOptions, 'bash' | 'policy' | 'judge'>,
): Violation[] {
  const thrown: Violation[] = [];
  const allowed: Judged[] = [];
  for (const line of lines) {
    const judgement = judged(judge, line, policy);
    if ('why' in judgement) thrown.push(judgement);
    else if (judgement.verdict === 'allow') allowed.push({line, judgement});
  }
  return [...thrown, ...runAll(allowed, {bash, policy}).violations];
}

function runAll(
  allowed: readonly Judged[],
  {bash, policy}: Pick<FuzzOptions, 'bash' | 'policy'>,
): {violations: Violation[]; commands: number} {
  const violations: Violation[] = [];
  let commands = 0;
  const lines = allowed.map(({line}) => line);
  let ran = lines.length > 0 ? bash.run(lines) : [];
  for (const [i, {line, judgement}] of allowed.entries()) {
    let violation = compare(line, judgement, ran[i], policy);
    if (violation) {
      // The commands of a pipeline report at the same time, and long reports may get mixed: what counts is said twice.
      ran = [...ran.slice(0, i), ...bash.run(lines.slice(i))];
      violation = compare(line, judgement, ran[i], policy);
    }
    if (violation) violations.push(violation);
    commands += ran[i]?.commands.length ?? 0;
    // What comes after has no answer because of this one.
    if (!ran[i]) break;
  }
  return {violations, commands};
}

function judged(judge: Judge, line: string, policy: Policy): Judgement | Violation {
  try {
    return judge(line, policy);
  } catch (error) {
    return {line, why: `judge threw ${(error as Error).message}`, said: [], ran: undefined};
  }
}

function compare(
  line: string,
  {segments, doubts}: Judgement,
  ran: Ran | undefined,
  policy: Policy,
): Violation | undefined {
  const said = toRun(segments);
  const violation = (why: string): Violation => ({line, why, said, ran});
  if (doubts.length > 0) return violation('allowed with doubts');
  if (line.includes('\0')) return violation('allowed with a NUL');
  if (!ran) return violation('it ended bash, or held it up');
  const denying = policy.rules.filter(rule => rule.verdict === 'deny');
  if (ran.commands.some(argv => denying.some(rule => denies(rule, argv))))
    return violation('bash ran what a rule denies');
  if (ran.background) return violation('it goes on in the background');
  if (ran.wrote) return violation('it wrote a file');
  if (!isSame(said, ran.commands)) return violation('bash ran other commands');
  if (ran.count !== said.flat().length) return violation('bash did more than to run these commands');
  return undefined;
}

/** Pipelines that run, by the operators between them and the statuses that follow from the names. */
function toRun(segments: readonly Segment[]): string[][][] {
  const pipelines: {operator: string; commands: string[][]}[] = [];
  for (const {argv, operator} of segments) {
    if (operator === '|') pipelines.at(-1)?.commands.push(argv);
    else pipelines.push({operator, commands: [argv]});
  }
  let failed = false;
  return pipelines.flatMap(({operator, commands}) => {
    if ((operator === '&&' && failed) || (operator === '||' && !failed)) return [];
    failed = fails(commands.at(-1)?.[0] ?? '');
    return [commands];
  });
}

/** The commands of one pipeline begin in any order. */
function isSame(said: readonly string[][][], ran: readonly string[][]): boolean {
  let at = 0;
  for (const pipeline of said) {
    const part = ran.slice(at, at + pipeline.length);
    if (sorted(part) !== sorted(pipeline)) return false;
    at += pipeline.length;
  }
  return at === ran.length;
}

const sorted = (commands: readonly string[][]): string =>
  commands
    .map(argv => JSON.stringify(argv))
    .sort()
    .join();

/** The shortest line found by leaving out parts that is still one. */
function shrink(violation: Violation, options: Pick<FuzzOptions, 'bash' | 'policy' | 'judge'>): Violation {
  let best = violation;
  let tries = 300;
  const end = performance.now() + 60_000;
  for (let size = violation.line.length >> 1; size >= 1; ) {
    let found = false;
    for (let at = 0; at + size <= best.line.length && tries > 0 && performance.now() < end; at += found ? 0 : size) {
      tries--;
      const [shorter] = tryLines([best.line.slice(0, at) + best.line.slice(at + size)], options);
      found = shorter !== undefined;
      if (shorter) best = shorter;
    }
    if (size === 1) break;
    size >>= 1;
  }
  return best;
}
