import type {Policy} from '../../formats/rule.ts';
import {judgeTool} from '../../policy/judge.ts';
import {narrowestToolRule} from '../../policy/narrowest-rule.ts';
import {riskOfTool} from '../../policy/risk.ts';
import {isCapable, type ToolName, toolNamed, tools} from '../../policy/tools.ts';
import {notSetUp} from '../connect/set-up.ts';
import {failure, isFailure, stoppedFailure, unexpectedFailure} from '../tool/failure.ts';
import type {
  Arguments,
  Ask,
  JudgedToolCall,
  JudgingTool,
  ReadyCall,
  ResultCode,
  Tool,
  ToolContext,
  ToolFailure,
  ToolResult,
} from '../tool/tool.ts';
import {parseToolPath, withoutWorkspace} from '../workspace/place.ts';
import {clearTemporaryFiles} from '../workspace/replace-file.ts';
import {readArguments} from './arguments.ts';
import {noSuchTool, type ToolProvider} from './provider.ts';
import {exact, implemented, offers} from './registry.ts';
import {markUntrusted} from './untrusted-output.ts';

export const builtInTools: ToolProvider = {
  name: 'built-in',
  has: tool => toolNamed(tool) !== undefined,
  list: ({capabilities, home, settings, env}) => offers(capabilities, notSetUp(home, settings, env)),
  prepare: (call, context) => prepareCall(call, call.capabilities, call.policy, context),
};

/** Prepare a call, or refuse it: the agent lacks the tool, the arguments are invalid, or the policy denies it. */
export async function prepareCall(
  call: {name: string; arguments: string},
  capabilities: readonly string[],
  policy: Policy,
  context: ToolContext,
): Promise<{refused: ToolResult} | ReadyCall> {
  const name = toolNamed(call.name);
  if (name === undefined || !isCapable(capabilities, name)) return notAmong(call.name, name, capabilities);
  const args = readArguments(name, call.arguments);
  if (isFailure(args)) return {refused: args};
  const placeholder = exact.has(name) ? /\[redacted: [^\]\n]{1,90}\]/.exec(call.arguments)?.[0] : undefined;
  if (placeholder !== undefined) return refuse('INVALID_ARGUMENTS', placeholderWords(placeholder));
  // `implemented` is indexed by the tool name whose schema the arguments passed.
  const tool = implemented[name] as Tool<ToolName> | JudgingTool<ToolName>;
  const value = args.value as Arguments<ToolName>;
  const prepared =
    'prepare' in tool ? await tool.prepare(value, policy, context) : judgedByName(name, tool, value, policy, context);
  const {verdict, reason, refused, unconfined = false, readOnly = false} = prepared;
  if (refused) return {refused};
  if (verdict === 'deny') return refuse('DENIED', `${name} is denied: ${reason}`);
  const besides = insists(name, prepared, context);
  const asks = verdict === 'ask' || besides.length > 0;
  return {
    effect: tools[name].effect,
    unconfined,
    readOnly,
    asks,
    ask: () => asked(name, prepared, besides, context),
    execute: () => execute(name, prepared, asks, context),
  };
}

const RETRIES = {
  interrupted: 'an earlier run of this very call was interrupted, and nobody knows what it did',
  'interrupted message':
    'an earlier message to the same place was interrupted, and nobody knows whether it was sent: this may be the second',
  'brought back':
    'this very call was begun before, and an older version of its session was brought back: it runs once more',
} as const;

/** Reasons to ask a person even if a rule allows the call. */
function insists(name: ToolName, {leaves}: JudgedToolCall, {tainted, retries}: ToolContext): string[] {
  const away = leaves ?? (tools[name].effect === 'outside' ? `${name} leaves the home` : undefined);
  const lasting = away ?? (name === 'remember' ? 'what is remembered reaches every agent' : undefined);
  return [
    ...(retries ? [RETRIES[retries]] : []),
    ...(tainted.length > 0 && lasting !== undefined
      ? [`${lasting}, and this session has read what came from outside`]
      : []),
  ];
}

/** A call of a tool whose verdict depends on its name alone. */
function judgedByName(
  name: ToolName,
  tool: Tool<ToolName>,
  args: Arguments<ToolName>,
  policy: Policy,
  context: ToolContext,
): JudgedToolCall {
  const path = pathOf(args, context);
  const {verdict, reason} = judgeTool(name, policy, {agent: context.agent, path});
  const shown = () => ({title: name, parts: [{label: 'Arguments', text: JSON.stringify(args, null, 2)}]});
  return {
    verdict,
    reason,
    execute: () => tool.execute(args, context),
    ask: async () => {
      const own = (await tool.ask?.(args, context)) ?? shown();
      return isFailure(own) ? own : {always: narrowestToolRule(name, path, policy, context.agent), ...own};
    },
  };
}

/** The path of a call, relative to the workspace where it names that folder itself. */
function pathOf(args: Arguments<ToolName>, {workspace}: ToolContext): string | undefined {
  return 'path' in args && typeof args.path === 'string' ? withoutWorkspace(args.path, workspace) : undefined;
}

/** Complete a tool's ask with what is common to all tools, and redact it. `besides`: why no rule is enough. */
async function asked(
  name: ToolName,
  {ask, reason}: JudgedToolCall,
  besides: readonly string[],
  context: ToolContext,
): Promise<Ask | ToolFailure> {
  try {
    const own = await ask();
    if (isFailure(own)) return context.redact.value(own);
    const none = besides.length > 0 ? besides.join('; ') : `no rule is narrower than "${name}: allow" under tools:`;
    return context.redact.value({
      type: tools[name].effect === 'outside' ? 'network' : 'file_write',
      risk: riskOfTool(name),
      basis: {},
      ...own,
      ...(context.retries && {type: 'retry'}),
      why: [...besides, ...(own.why ?? [reason])],
      always: besides.length > 0 || !own.always ? {none} : own.always,
    });
  } catch (error) {
    return unexpectedFailure(error, context);
  }
}

/** Remove the temporary file that an interrupted call may have left. Never throws. */
export function tidyAfter(call: {name: string; arguments: string}, context: ToolContext): void {
  const name = toolNamed(call.name);
  const args = name === undefined ? undefined : readArguments(name, call.arguments);
  if (!args || isFailure(args) || !('path' in args.value) || typeof args.value.path !== 'string') return;
  const place = parseToolPath(args.value.path, 'write', context.workspace);
  if (!isFailure(place)) clearTemporaryFiles(context, place);
}

async function execute(
  name: ToolName,
  prepared: JudgedToolCall,
  approved: boolean,
  context: ToolContext,
): Promise<ToolResult> {
  if (context.signal.aborted) return stoppedFailure(context);
  try {
    return finalize(await markUntrusted(name, await prepared.execute(approved), context), context);
  } catch (error) {
    return finalize(context.signal.aborted ? stoppedFailure(context) : unexpectedFailure(error, context), context);
  }
}

function finalize(result: ToolResult, {redact}: ToolContext): ToolResult {
  const redacted = redact.value(result);
  if (redacted === result) return result;
  return {...redacted, redacted: 'secrets were taken out: where it says [redacted: …] there is something else'};
}

function placeholderWords(placeholder: string): string {
  return (
    `${placeholder} stands for a secret that was taken out, here or where it was read; nothing is written, run or sent with it. ` +
    'Change other lines with edit_file, and leave the secret itself to a person'
  );
}

function notAmong(wanted: string, name: ToolName | undefined, capabilities: readonly string[]): {refused: ToolResult} {
  const what =
    name === undefined ? `there is no tool ${JSON.stringify(wanted.slice(0, 80))}` : `this agent may not use ${name}`;
  return {refused: noSuchTool(wanted, what, offers(capabilities))};
}

function refuse(code: ResultCode, error: string): {refused: ToolResult} {
  return {refused: failure(code, error)};
}
