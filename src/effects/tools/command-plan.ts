import {lstatSync, readdirSync, realpathSync} from 'node:fs';
import {dirname, join, relative, resolve, sep} from 'node:path';
import type {Policy, Verdict} from '../../formats/rule.ts';
import {commandKind} from '../../policy/command/command-name.ts';
import {runsLocalCode, runsOurCode} from '../../policy/command/local-code.ts';
import {provenToRead} from '../../policy/command/proven-inside.ts';
import {type Judgement, judge, type SegmentJudgement} from '../../policy/judge.ts';
import {type Risk, riskOf} from '../../policy/risk.ts';
import {findProgram, isUnsafe} from '../sandbox/find-program.ts';
import type {Program} from '../sandbox/run.ts';
import type {Arguments, ToolContext} from '../tool/tool.ts';
import {hasOwnRepository} from '../workspace/whole-state.ts';

export interface CommandPlan {
  verdict: Verdict;
  reasons: readonly string[];
  judgement: Judgement;
  risk: Risk;
  /** Runs if the policy allows the line: exactly the words that were judged. */
  programs: readonly Program[];
  /** Runs after a person approved the line: a shell reads the string. */
  approved: readonly Program[];
  /** No command in it can write, so the workspace is mounted read-only. */
  readOnly: boolean;
  /** Why there is no sandbox, if the line runs on the host for that reason. */
  unconfined: string | undefined;
}

/** Judge a line by policy, sandbox and requested permissions. Throws while the sandbox cannot be tested. */
export async function planCommand(
  {command, sandbox: wanted, network = false}: Arguments<'execute_command'>,
  policy: Policy,
  context: ToolContext,
): Promise<CommandPlan> {
  const judgement = judge(command, policy, {agent: context.agent});
  const {mode} = context.commands;
  const state = mode === 'off' ? undefined : await context.commands.sandbox.state();
  // A full disk does not remove the sandbox: decide nothing until it is tested.
  if (state?.state === 'untested') throw new Error(`no command runs: ${state.why}; ${state.hint}`);
  const confines = state?.state === 'works';
  const unconfined = confines || state === undefined ? 'agentdir.yaml has sandbox: off' : state.why;

  // An approved line gets what a rule grants to any of its commands.
  const host = wanted === 'host' || !confines || judgement.segments.some(({sandbox}) => sandbox === 'host');
  const online = network || judgement.segments.some(segment => segment.network);
  const programs = judgement.segments.map(
    (segment): Program => ({
      argv: segment.argv,
      operator: segment.operator,
      confined: confines && segment.sandbox !== 'host',
      network: segment.network === true,
    }),
  );
  const approved: Program = {argv: ['bash', '-c', command], operator: '', confined: !host, network: online};
  const without = confines ? undefined : unconfined;
  const risk = riskOf(judgement, {host: wanted === 'host', network, unconfined: without});
  const plan = {
    judgement,
    risk,
    programs,
    approved: [approved],
    readOnly: judgement.verdict === 'allow' && riskOf(judgement, {host: wanted === 'host', network}).level === 'LOW',
    unconfined: without,
  };

  if (mode === 'require' && !confines) {
    const reason = `agentdir.yaml has sandbox: require, and there is none: ${unconfined}; so no command runs`;
    return {...plan, verdict: 'deny', reasons: [reason]};
  }
  if (judgement.verdict !== 'allow') return {...plan, verdict: judgement.verdict, reasons: judgement.reasons};
  const asks = [
    ...beyondRules(judgement.segments, wanted === 'host' && confines, network),
    ...judgement.segments.flatMap((segment, i) =>
      programs[i]?.confined ? [] : unsafeOnHost(segment, context, unconfined),
    ),
    ...ownRepository(judgement.segments, context, online),
  ];
  return {...plan, verdict: asks.length > 0 ? 'ask' : 'allow', reasons: asks.length > 0 ? asks : judgement.reasons};
}

/** Requests of the call that no rule grants. If a rule grants one to a command of the line, the others lack it. */
function beyondRules(segments: readonly SegmentJudgement[], host: boolean, network: boolean): string[] {
  const asks: string[] = [];
  if (host && !segments.some(({sandbox}) => sandbox === 'host'))
    asks.push('it asks to run outside the sandbox, and no rule for it has sandbox: host');
  if (network && !segments.some(segment => segment.network || segment.sandbox === 'host'))
    asks.push('it asks for network access, and no rule for it has network: true');
  return asks;
}

/** Outside the sandbox, programs that an agent could have written and paths through links always ask. */
function unsafeOnHost(segment: SegmentJudgement, context: ToolContext, unconfined: string): string[] {
  const {argv, source} = segment;
  const {home, workspace} = context;
  const [name = ''] = argv;
  const found = findProgram(name, {home, workspace, confined: false});
  if (found?.unsafe) return [`\`${source}\` would run ${name} outside the sandbox, where agents can change that file`];
  if (segment.sandbox === 'host') {
    // The rule says `sandbox: host`, which accepts the other risks.
    const ours = runsOurCode(argv, path => isUnsafe(path, {home, workspace, confined: false}));
    return ours === undefined ? [] : [`${ours} outside the sandbox, and agents can change that`];
  }
  const objection = segment.exact ? exactObjection(argv, workspace) : looseObjection(argv, workspace);
  return objection === undefined ? [] : [`${objection}, and there is no sandbox: ${unconfined}`];
}

/** Why a line that a rule spells word for word is not safe without a sandbox: agents choose what it would run or read. */
function exactObjection(argv: readonly string[], workspace: string): string | undefined {
  const out = argv.slice(1).find(word => leadsOut(word, workspace));
  return runsLocalCode(argv) ?? (out && `\`${out}\` leads out of the workspace`);
}

/** Why a line that a rule with a `*` covers is not proven to read only files of the workspace. */
function looseObjection(argv: readonly string[], workspace: string): string | undefined {
  const use = provenToRead(argv);
  if (typeof use === 'string') return use;
  // A word that the row takes for something else may still name a file, and so may `-`.
  const others = argv.slice(1).filter((_, i) => !use.free.has(i + 1));
  const paths = use.files.map(({path}) => path);
  const out =
    paths.find(path => isElsewhere(resolve(workspace, path), workspace)) ??
    others.find(word => leadsOut(word, workspace));
  if (out !== undefined) return `\`${out}\` leads out of the workspace`;
  if (!use.walks || use.lists) return undefined;
  const folders = paths.length > 0 ? paths : ['.'];
  const link = folders.map(path => linkOutOf(resolve(workspace, path), workspace)).find(Boolean);
  return link && `\`${argv[0]}\` reads folders, and ${link}`;
}

/** Limit on entries of the folders that a command walks, because each is looked at before the command runs. */
const MAX_WALKED = 5_000;

/** A link or a file with further hard links below a folder that may lead out of the workspace. */
function linkOutOf(folder: string, workspace: string): string | undefined {
  let left = MAX_WALKED;
  const work = [folder];
  for (let path = work.pop(); path !== undefined; path = work.pop()) {
    if (left-- === 0) return `there are more than ${MAX_WALKED} files to check for links`;
    const stat = lstatSync(path, {throwIfNoEntry: false});
    if (stat?.isDirectory()) for (const name of readdirSync(path)) work.push(join(path, name));
    else if (stat && isElsewhere(path, workspace)) return `\`${relative(workspace, path)}\` leads out of the workspace`;
  }
  return undefined;
}

/** git runs programs that the settings of a repository name (`diff.x.textconv`), and agents write those of another repository. */
function ownRepository(segments: readonly SegmentJudgement[], context: ToolContext, online: boolean): string[] {
  const found = segments.find(({argv}) => commandKind(argv[0] ?? '') === 'git');
  // Its own repository is the agent's to use, but not with the network that a rule grants.
  if (!found || !(hasOwnRepository(context) || (context.ownGit && online))) return [];
  return [
    `\`${found.source}\`: git does what the settings of a repository say, and agents can change those of this one`,
  ];
}

/**
 * Whether a word, or the option value in it, names a file outside the workspace once links are followed, or a file with
 * further hard links. A missing file counts as being where its folder is. Words with `/` at the start or `..` are not
 * checked: the rule had to spell those out.
 */
function leadsOut(word: string, workspace: string): boolean {
  const short = /^-[A-Za-z0-9](?<value>.+)/.exec(word)?.groups?.value ?? '';
  return [word, word.slice(word.indexOf('=') + 1), short].some(path => {
    if (path === '' || path.startsWith('-') || path.startsWith('/') || path.split('/').includes('..')) return false;
    return isElsewhere(resolve(workspace, path), workspace);
  });
}

function isElsewhere(path: string, workspace: string): boolean {
  const stat = lstatSync(path, {throwIfNoEntry: false});
  if (!stat) return path !== workspace && isElsewhere(dirname(path), workspace);
  if (stat.isFile() && stat.nlink > 1) return true;
  try {
    const [real, root] = [realpathSync(path), realpathSync(workspace)];
    return real !== root && !real.startsWith(root + sep);
  } catch {
    // A dangling link: writing to it creates its target.
    return true;
  }
}

/** `sandbox`, `sandbox with network` or `host`; part of a result, and of what a decision is bound to. */
export function whereOf(programs: readonly Program[]): string {
  const places = new Set(
    programs.map(({confined, network}) => (confined ? `sandbox${network ? ' with network' : ''}` : 'host')),
  );
  return [...places].join(', ');
}

const DEFAULT_SECONDS = 120;
const MOST_SECONDS = 3600;

export function secondsOf(wanted: number | undefined, {timeoutMs}: ToolContext): number {
  return Math.min(wanted ?? DEFAULT_SECONDS, timeoutMs === undefined ? MOST_SECONDS : timeoutMs / 1000);
}
