import {GRANT_LINES, type GrantLine} from '../../formats/approval/approval-grants.ts';
import type {NewRule, Policy} from '../../formats/rule.ts';
import type {Ask} from '../../policy/ask.ts';
import {commandKind} from '../../policy/command/command-name.ts';
import {filesNamed} from '../../policy/command/proven-inside.ts';
import {scriptOperands} from '../../policy/command/script-operands.ts';
import type {Judgement} from '../../policy/judge.ts';
import {narrowestRule, withRules} from '../../policy/narrowest-rule.ts';
import {isFailure} from '../tool/failure.ts';
import type {Arguments, ToolAsk, ToolContext, ToolFailure} from '../tool/tool.ts';
import {closeFolder, openFolder} from '../workspace/folder.ts';
import {ownRepositoryState} from '../workspace/own-repository.ts';
import {makeToolPath} from '../workspace/place.ts';
import {type CommandPlan, planCommand, secondsOf, whereOf} from './command-plan.ts';
import {scriptBasis, WHOLE} from './script-basis.ts';

type CommandArguments = Arguments<'execute_command'>;

/** Ask about a command line, with everything that the decision is bound to. */
export async function askAboutCommand(
  args: CommandArguments,
  plan: CommandPlan,
  policy: Policy,
  context: ToolContext,
): Promise<ToolAsk | ToolFailure> {
  const {command, reason} = args;
  const folder = openFolder(context, makeToolPath('workspace', []));
  if (isFailure(folder)) return folder;
  closeFolder(folder);
  const where = whereOf(plan.approved);
  const operands = scriptOperands(command, plan.judgement.segments);
  const read = operands.unnamed ? undefined : filesRead(plan.judgement);
  const bound = await scriptBasis({...operands, read}, context);
  if (isFailure(bound)) return bound;
  // Hooks and settings of its own repository are files that git obeys.
  const usesGit =
    bound[WHOLE] !== undefined || plan.judgement.segments.some(({argv}) => commandKind(argv[0] ?? '') === 'git');
  const own = context.ownGit && usesGit ? ownRepositoryState(context.home, context.agent) : undefined;
  return {
    type: 'terminal_command',
    title: `command${where === 'host' ? ' on the host' : ''}: ${command}`,
    risk: plan.risk,
    why: plan.reasons,
    ...(reason !== undefined && {reason}),
    parts: [
      {label: 'Command', text: command, language: 'bash'},
      {label: 'Segments', text: segmentsText(plan.judgement)},
      {label: 'Permissions', text: permissionsText(args, plan, context, boundWords(bound))},
    ],
    edits: {argument: 'command', label: 'Command'},
    grants: grantsFor(plan),
    basis: {where, ...bound, ...(own !== undefined && {'own repository': own})},
    always: withScripts(await alwaysOf(args, plan, policy, context), bound, operands.unnamed),
  };
}

/** What a person may add: nothing where the line runs on the host anyway. */
function grantsFor({approved}: CommandPlan): readonly GrantLine[] {
  if (approved.some(({confined}) => !confined)) return [];
  return approved.some(({network}) => network) ? ['sandbox: host'] : GRANT_LINES;
}

/** The files that the line reads, if every command in it is known to read only files that its words name. */
function filesRead({segments, doubts}: Judgement): string[] | undefined {
  if (doubts.length > 0 || segments.length === 0) return undefined;
  const uses = segments.map(({argv}) => filesNamed(argv));
  return uses.every(use => use !== undefined) ? uses.flat() : undefined;
}

/** Describe what must not change until the command runs; otherwise the person is asked again. */
function boundWords(bound: Readonly<Record<string, string>>): string {
  if (bound[WHOLE] !== undefined) return 'this line and the whole workspace; it may read any file in it';
  if (Object.keys(bound).length === 0) return 'this line only; it reads no files of the workspace';
  return 'this line and the files under "Bound to"; it reads no others';
}

/** Each simple command with quoted words, so that their ends are visible, its verdict and the reason. */
function segmentsText({segments, doubts}: Judgement): string {
  const lines = segments.map(
    ({verdict, argv, reason}) => `${verdict}: ${argv.map(word => JSON.stringify(word)).join(' ')}\n  ${reason}`,
  );
  if (doubts.length === 0) return lines.join('\n');
  const why = `This may not be everything the line does: it ${doubts.join(', ')}.`;
  if (lines.length === 0) return `${why} No command could be parsed.`;
  return `${why} Commands found:\n${lines.join('\n')}`;
}

function permissionsText(
  {sandbox, network, timeout_seconds}: CommandArguments,
  plan: CommandPlan,
  context: ToolContext,
  bound: string,
) {
  const confined = plan.approved.every(program => program.confined);
  const online = !confined || plan.approved.some(program => program.network);
  const where = confined
    ? 'in the sandbox: it sees the workspace and a read-only system, and nothing else on this machine'
    : plan.unconfined === undefined
      ? 'on the host, outside the sandbox: it can do whatever the daemon can'
      : `without a sandbox (${plan.unconfined}): it can do whatever the daemon can`;
  const wanted = [sandbox === 'host' && 'to run on the host', network && 'network access'].filter(Boolean);
  return [
    `runs: ${where}`,
    `network: ${online ? 'yes' : 'no'}`,
    'workspace: it can change any file in it',
    `time limit: ${secondsOf(timeout_seconds, context)} s`,
    'how: bash runs exactly this line',
    `bound to: ${bound}`,
    ...(wanted.length > 0 ? [`the agent asks for: ${wanted.join(', ')}`] : []),
  ].join('\n');
}

/** Offer rules only if the whole call would then run without asking, with everything it requests. */
async function alwaysOf(
  args: CommandArguments,
  {judgement}: CommandPlan,
  policy: Policy,
  context: ToolContext,
): Promise<{rules: readonly NewRule[]} | {none: string}> {
  const {command, sandbox, network = false} = args;
  const found = narrowestRule(command, judgement, policy, {agent: context.agent, host: sandbox === 'host', network});
  if ('none' in found) return found;
  const then = await planCommand(args, withRules(policy, found.rules), context);
  if (then.verdict !== 'allow') return {none: `a rule would not be enough: ${then.reasons.join('; ')}`};
  if (context.redact.value(found) !== found) return {none: 'the rule would contain a secret, which no file may hold'};
  return found;
}

/** A rule matches words only: warn that the files it runs may have any content later. */
function withScripts(always: Ask['always'], bound: Readonly<Record<string, string>>, unnamed: boolean): Ask['always'] {
  const scripts = Object.keys(bound).filter(key => key.startsWith('script '));
  const names = [...scripts.map(key => key.slice('script '.length)), ...(unnamed ? ['files of the workspace'] : [])];
  if ('none' in always || names.length === 0) return always;
  const [first = '', ...others] = names;
  const which = others.length === 0 ? first : `${first} and ${others.length} more`;
  return {...always, but: `from then on it runs whatever ${which} contains at that time, without asking`};
}
