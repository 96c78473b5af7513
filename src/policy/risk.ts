import {commandKind, ownEntry} from './command/command-name.ts';
import {knownUse} from './command/known-use.ts';
import type {CommandFacts} from './command/table/row.ts';
import {rows} from './command/table/rows.ts';
import {unwrap} from './command/wrappers.ts';
import type {Judgement} from './judge.ts';
import {toolNamed, tools} from './tools.ts';

const riskLevels = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;
export type RiskLevel = (typeof riskLevels)[number];

export interface Risk {
  level: RiskLevel;
  /** Reasons, worst first. */
  factors: string[];
}

export interface Factor {
  level: RiskLevel;
  why: string;
}

const classes: Readonly<Record<NonNullable<CommandFacts['risk']>, {level: RiskLevel; why: string}>> = {
  machine: {level: 'CRITICAL', why: 'acts as another user or on the whole machine'},
  deletes: {level: 'HIGH', why: 'deletes or stops things'},
  controls: {level: 'HIGH', why: 'controls services of the host'},
  writes: {level: 'MEDIUM', why: 'writes files'},
};

/** Judge the risk by simple rules. `asked`: what the call requests; `unconfined`: why there is no sandbox. */
export function riskOf(
  judgement: Judgement,
  asked: {host?: boolean; network?: boolean; unconfined?: string | undefined} = {},
): Risk {
  const factors: Factor[] = [];
  if (asked.unconfined !== undefined)
    factors.push({level: 'HIGH', why: `runs unconfined because there is no sandbox: ${asked.unconfined}`});
  if (asked.host) factors.push({level: 'HIGH', why: 'runs outside the sandbox'});
  if (asked.network) factors.push({level: 'MEDIUM', why: 'runs with network access'});
  const add = (argv: readonly string[]): void => {
    for (const factor of factorsOf(argv)) factors.push(factor);
  };
  if (judgement.verdict === 'deny') factors.push({level: 'CRITICAL', why: 'the policy denies it'});
  if (judgement.doubts.length > 0) {
    factors.push({
      level: 'MEDIUM',
      why: `it may do more than it shows: the line ${judgement.doubts.join(', ')}`,
    });
  }
  for (const segment of judgement.segments) {
    add(segment.argv);
    const {why} = unwrap(segment.argv, add);
    if (why !== undefined) factors.push({level: 'MEDIUM', why});
    if (segment.sandbox === 'host') factors.push({level: 'HIGH', why: 'runs outside the sandbox'});
    if (segment.network) factors.push({level: 'MEDIUM', why: 'runs with network access'});
  }
  return summary(factors);
}

/** Whether a command is known to change nothing, itself or through a service. */
export function onlyReads(argv: readonly string[]): boolean {
  const use = knownUse(argv);
  return use !== undefined && use.unknown.length === 0 && !use.changes && unwrap(argv, () => {}).why === undefined;
}

function factorsOf(argv: readonly string[]): Factor[] {
  const command = argv[0] ?? '';
  const kind = commandKind(command).split(' ', 1)[0] ?? '';
  const use = knownUse(argv);
  const isKnown = use !== undefined && use.unknown.length === 0;
  const row = ownEntry(rows, kind) ?? ownEntry(rows, kind.split('.', 1)[0] ?? '');
  const listed =
    row?.reaches === true ? {level: 'HIGH' as const, why: 'reaches other machines'} : row?.risk && classes[row.risk];
  if (isKnown && use.service) return [{level: 'MEDIUM', why: `${command} asks a service of the host`}];
  const unknown = (use?.unknown ?? []).map(({reason}) => ({level: 'MEDIUM', why: reason}) as const);
  if (listed) return [{level: listed.level, why: `${command} ${listed.why}`}];
  if (use === undefined) return [{level: 'MEDIUM', why: `${command} is not a known command`}];
  if (use.changes) return [{level: 'MEDIUM', why: `${command} writes files`}, ...unknown];
  return isKnown ? [{level: 'LOW', why: `${command} only reads`}] : unknown;
}

export function riskOfTool(name: string): Risk {
  const tool = toolNamed(name);
  if (tool === undefined) return summary([{level: 'HIGH', why: `${name} is not a built-in tool`}]);
  const {effect} = tools[tool];
  if (effect === 'read') return summary([{level: 'LOW', why: `${tool} only reads`}]);
  if (effect === 'write' || effect === 'deliver') return summary([{level: 'MEDIUM', why: `${tool} changes something`}]);
  return summary([{level: 'HIGH', why: `${tool} leaves the home`}]);
}

/** The worst level wins. */
export function summary(factors: readonly Factor[]): Risk {
  const rank = (factor: Factor): number => riskLevels.indexOf(factor.level);
  const sorted = [...factors].sort((a, b) => rank(b) - rank(a));
  return {level: sorted[0]?.level ?? 'MEDIUM', factors: [...new Set(sorted.map(factor => factor.why))]};
}
