import type {Policy, Verdict} from '../../../formats/rule.ts';
import type {Settings} from '../../../formats/settings.ts';
import {judgeAddress} from '../../../policy/address.ts';
import {runsOurCode} from '../../../policy/command/local-code.ts';
import {judge, judgeTool} from '../../../policy/judge.ts';
import {mayReachOut} from '../../../policy/may-reach-out.ts';
import {type ToolEffect, toolNamed, tools} from '../../../policy/tools.ts';

export interface JudgedCall {
  tool: string;
  /** JSON by the model. */
  arguments: string;
  agent: string;
  /** The session was tainted. */
  tainted: boolean;
}

/** Unknown tools could do anything. */
export function effectOf(tool: string): ToolEffect {
  const name = toolNamed(tool);
  return name === undefined ? 'outside' : tools[name].effect;
}

/**
 * The verdict of the policy without a person, except for facts that only the machine knew, such as its sandbox. `deny`
 * cannot be approved.
 */
export function verdictOf(call: JudgedCall, policy: Policy, settings: Settings): {verdict: Verdict; reason: string} {
  const name = toolNamed(call.tool);
  const args = argumentsOf(call.arguments);
  const judged =
    name === 'execute_command'
      ? ofCommand(call, args, policy, settings)
      : name === 'fetch'
        ? judgeAddress(String(args.url ?? ''), policy, call.agent)
        : judgeTool(call.tool, policy, {agent: call.agent, path: pathIn(args, call.agent)});
  if (judged.verdict !== 'allow' || !call.tainted) return judged;
  if (effectOf(call.tool) === 'outside' || name === 'remember')
    return {verdict: 'ask', reason: `${call.tool} reaches others, and the session had read what came from outside`};
  return judged;
}

function ofCommand(
  {agent, tainted}: JudgedCall,
  args: Readonly<Record<string, unknown>>,
  policy: Policy,
  {sandbox}: Settings,
): {verdict: Verdict; reason: string} {
  const {verdict, segments, reasons} = judge(String(args.command ?? ''), policy, {agent});
  const ask = (reason: string) => ({verdict: 'ask', reason}) as const;
  if (verdict !== 'allow') return {verdict, reason: reasons.join('; ')};
  const granted = segments.filter(segment => segment.sandbox === 'host');
  const host = granted.length > 0;
  const network = segments.some(segment => segment.network);
  if (args.sandbox === 'host' && sandbox !== 'off' && !host) return ask('no rule for it has sandbox: host');
  if (args.network === true && !network && !host) return ask('no rule for it has network: true');
  const code = granted.map(({argv}) => runsOurCode(argv, path => !path.startsWith('/'))).find(Boolean);
  if (code !== undefined) return ask(`${code} outside the sandbox`);
  const onHost = segments.filter(segment => sandbox === 'off' || segment.sandbox === 'host');
  if (tainted && (network || onHost.some(({argv}) => mayReachOut(argv) !== undefined)))
    return ask('it reaches other machines, and the session had read what came from outside');
  return {verdict, reason: reasons.join('; ')};
}

/** The path of a call, relative to the agent's workspace, wherever the home was when it ran. */
function pathIn({path}: Readonly<Record<string, unknown>>, agent: string): string | undefined {
  if (typeof path !== 'string') return undefined;
  const start = `/workspaces/${agent}/`;
  return path.startsWith('/') && path.includes(start) ? path.slice(path.indexOf(start) + start.length) : path;
}

function argumentsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
