import {commandKind} from './command/command-name.ts';
import {riskyUses} from './command/flags.ts';
import {reachesOut} from './command/sends-out.ts';
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

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

const classes: readonly {level: RiskLevel; why: string; commands: ReadonlySet<string>}[] = [
  {
    level: 'CRITICAL',
    why: 'acts as another user or on the whole machine',
    commands: words(
      'sudo doas su runuser pkexec mkfs dd shred wipefs fdisk parted shutdown reboot halt poweroff init insmod rmmod modprobe chroot userdel passwd visudo',
    ),
  },
  {
    level: 'HIGH',
    why: 'deletes or stops things',
    commands: words('rm rmdir unlink truncate kill killall pkill iptables nft ufw crontab at'),
  },
  {
    level: 'HIGH',
    why: 'reaches other machines',
    commands: reachesOut,
  },
  {
    level: 'HIGH',
    why: 'controls services of the host',
    commands: words('docker kubectl helm systemctl service mount umount sysctl terraform'),
  },
  {
    level: 'MEDIUM',
    why: 'writes files',
    commands: words(
      'cp mv mkdir touch tee ln chmod chown chgrp install patch tar zip unzip gzip gunzip split make npm pnpm yarn bun cargo go',
    ),
  },
  {
    level: 'LOW',
    why: 'only reads',
    commands: words(
      'ls cat head tail wc pwd date uname ps df du grep rg find sort uniq cut tr nl file stat which whoami id uptime free hostname git echo printf true false test tree basename dirname realpath readlink diff cmp comm sha256sum md5sum cksum jq awk sed env column seq sleep',
    ),
  },
];

/** Judge the risk by simple rules. `asked`: what the call requests; `unconfined`: why there is no sandbox. */
export function riskOf(
  judgement: Judgement,
  asked: {host?: boolean; network?: boolean; unconfined?: string | undefined} = {},
): Risk {
  const factors: Factor[] = [];
  if (asked.unconfined !== undefined)
    factors.push({level: 'HIGH', why: `runs unconfined, for there is no sandbox: ${asked.unconfined}`});
  if (asked.host) factors.push({level: 'HIGH', why: 'runs outside the sandbox'});
  if (asked.network) factors.push({level: 'MEDIUM', why: 'runs with network access'});
  const add = (argv: readonly string[]): void => {
    for (const factor of factorsOf(argv)) factors.push(factor);
  };
  if (judgement.verdict === 'deny') factors.push({level: 'CRITICAL', why: 'the policy denies it'});
  if (judgement.doubts.length > 0) {
    factors.push({
      level: 'MEDIUM',
      why: `not proven to do only what it shows: the line ${judgement.doubts.join(', ')}`,
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
  const {why} = unwrap(argv, () => {});
  return why === undefined && factorsOf(argv).every(factor => factor.level === 'LOW' || factor.why.endsWith(ASKS));
}

const ASKS = 'asks a service of the host';

function factorsOf(argv: readonly string[]): Factor[] {
  const command = argv[0] ?? '';
  const kind = commandKind(command).split(' ', 1)[0] ?? '';
  const uses = riskyUses(argv).map(use => ({level: 'MEDIUM', why: use.reason}) as const);
  const known = classes.find(({commands}) => commands.has(kind) || commands.has(kind.split('.', 1)[0] ?? ''));
  // Reading subcommands of a service change nothing.
  const calm = known?.why === 'controls services of the host' && uses.length === 0;
  if (calm) return [{level: 'MEDIUM', why: `${command} ${ASKS}`}];
  if (known) return [{level: known.level, why: `${command} ${known.why}`}, ...uses];
  return [{level: 'MEDIUM', why: `${command} is not a known command`}, ...uses];
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
