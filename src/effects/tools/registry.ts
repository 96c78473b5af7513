import {nearest} from '../../files/diagnostic.ts';
import type {Policy} from '../../files/rule.ts';
import {judgeTool} from '../../policy/judge.ts';
import {type ToolName, toolNamed, tools} from '../../policy/tools.ts';
import type {ToolOffer} from '../model/answer.ts';
import {placeOf} from '../workspace/place.ts';
import {clearLeftovers} from '../workspace/replace-file.ts';
import {readArguments} from './arguments.ts';
import {createDirectory} from './create-directory.ts';
import {createFile} from './create-file.ts';
import {cutMiddle} from './cut.ts';
import {editFile} from './edit-file.ts';
import {failure, isFailure, stopped, unexpected} from './failure.ts';
import {glob} from './glob.ts';
import {grep} from './grep.ts';
import {listAgents} from './list-agents.ts';
import {listDirectory} from './list-directory.ts';
import {listSessions} from './list-sessions.ts';
import {readFile} from './read-file.ts';
import {schemaOf} from './schema.ts';
import type {ReadyCall, ResultCode, Tool, ToolContext, ToolResult} from './tool.ts';
import {writeFile} from './write-file.ts';

/** What can run. The rest of the table is not offered. */
const implemented = {
  read_file: readFile,
  list_directory: listDirectory,
  create_directory: createDirectory,
  write_file: writeFile,
  create_file: createFile,
  edit_file: editFile,
  glob,
  grep,
  list_agents: listAgents,
  list_sessions: listSessions,
} as const satisfies {[N in ToolName]?: Tool<N>};

export const implementedTools = Object.keys(implemented) as (keyof typeof implemented)[];

const offered = new Map<ToolName, ToolOffer>();

function offer(name: ToolName): ToolOffer {
  let made = offered.get(name);
  if (!made) {
    made = {name, description: tools[name].description, parameters: schemaOf(name)};
    offered.set(name, made);
  }
  return made;
}

/** The tools of these capabilities that can run, by their own names, each once. */
export function offers(capabilities: readonly string[]): ToolOffer[] {
  return [...toolsOf(capabilities)].filter(isImplemented).map(offer);
}

function isImplemented(name: ToolName): name is keyof typeof implemented {
  return Object.hasOwn(implemented, name);
}

function toolsOf(capabilities: readonly string[]): Set<ToolName> {
  return new Set(capabilities.map(toolNamed).filter(name => name !== undefined));
}

/**
 * A call as the model wrote it → what runs it, or the result that refuses it: not among the agent's tools, arguments
 * that do not fit, or the policy's verdict.
 */
export function prepare(
  call: {name: string; arguments: string},
  capabilities: readonly string[],
  policy: Policy,
  context: ToolContext,
): {refused: ToolResult} | ReadyCall {
  const name = toolNamed(call.name);
  if (name === undefined || !toolsOf(capabilities).has(name)) return notAmong(call.name, name, capabilities);
  const args = readArguments(name, call.arguments);
  if (isFailure(args)) return {refused: args};

  const {verdict, reason} = judgeTool(name, policy);
  if (verdict === 'deny') return refuse('DENIED', `${name} is denied: ${reason}`);
  if (!isImplemented(name)) return refuse('NOT_ALLOWED', `${name} cannot be run yet: this version does not have it`);
  if (verdict === 'ask') {
    const how = `a person must first write "${name}: allow" under tools: in allowlist.yaml`;
    return refuse('REJECTED', `${name} needs a person's decision (${reason}); ${how}`);
  }
  // The table of implementations is indexed by the name whose schema the arguments passed.
  const tool = implemented[name] as Tool<ToolName>;
  const value = args.value as Parameters<typeof tool.execute>[0];
  return {
    effect: tools[name].effect,
    execute: () => execute(tool, value, context),
    preview: async () => {
      try {
        return (await tool.preview?.(value, context)) ?? cutMiddle(`${name} ${JSON.stringify(value, null, 2)}`);
      } catch (error) {
        return unexpected(error, context).error;
      }
    },
  };
}

/** A call that was interrupted may have left a file half written: that goes, and nothing else. Never throws. */
export function tidyAfter(call: {name: string; arguments: string}, context: ToolContext): void {
  const name = toolNamed(call.name);
  const args = name === undefined ? undefined : readArguments(name, call.arguments);
  if (!args || isFailure(args) || !('path' in args.value) || typeof args.value.path !== 'string') return;
  const place = placeOf(args.value.path, 'write');
  if (!isFailure(place)) clearLeftovers(context, place);
}

async function execute(
  tool: Tool<ToolName>,
  args: Parameters<typeof tool.execute>[0],
  context: ToolContext,
): Promise<ToolResult> {
  if (context.signal.aborted) return stopped(context);
  try {
    return await tool.execute(args, context);
  } catch (error) {
    return context.signal.aborted ? stopped(context) : unexpected(error, context);
  }
}

function notAmong(wanted: string, name: ToolName | undefined, capabilities: readonly string[]): {refused: ToolResult} {
  const has = offers(capabilities).map(tool => tool.name);
  const near = nearest(wanted, has);
  const what =
    name === undefined ? `there is no tool ${JSON.stringify(wanted.slice(0, 80))}` : `this agent may not use ${name}`;
  const list = has.length > 0 ? `its tools are ${has.join(', ')}` : 'it has no tools';
  return refuse('NOT_ALLOWED', `${what}${near ? ` (did you mean ${near}?)` : ''}; ${list}`);
}

function refuse(code: ResultCode, error: string): {refused: ToolResult} {
  return {refused: failure(code, error)};
}
