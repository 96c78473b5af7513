import {contextTools} from './tool/context-tools.ts';
import type {ToolDefinition} from './tool/definition.ts';
import {delegationTools} from './tool/delegation-tools.ts';
import {fileTools} from './tool/file-tools.ts';

import {outsideTools} from './tool/outside-tools.ts';
import {recallTools} from './tool/recall-tool.ts';
import {runTools} from './tool/run-tools.ts';
import {talkTools} from './tool/talk-tools.ts';
import {taskTools} from './tool/task-tools.ts';

export type {ToolDefinition, ToolEffect} from './tool/definition.ts';

/** The single list of tools, for `check`, for models and for the policy. */
export const tools = {
  ...fileTools,
  ...runTools,
  ...taskTools,
  ...talkTools,
  ...outsideTools,
  ...contextTools,
  ...recallTools,
  ...delegationTools,
} as const satisfies Record<string, ToolDefinition>;

export type ToolName = keyof typeof tools;

/** Names that Niffler and Claude Code use for the same tools. */
export const aliases: Readonly<Record<string, ToolName>> = {
  read: 'read_file',
  list: 'list_directory',
  create: 'create_file',
  edit: 'edit_file',
  write: 'write_file',
  bash: 'execute_command',
  Read: 'read_file',
  NotebookRead: 'read_file',
  LS: 'list_directory',
  Glob: 'glob',
  Grep: 'grep',
  Write: 'write_file',
  Edit: 'edit_file',
  MultiEdit: 'edit_file',
  NotebookEdit: 'edit_file',
  Bash: 'execute_command',
  WebFetch: 'fetch',
  Task: 'task',
  Agent: 'task',
  TodoRead: 'query_tasks',
  TodoWrite: 'create_task',
  AskUserQuestion: 'ask_human',
  SendMessage: 'send_message',
};

export function toolNamed(name: string): ToolName | undefined {
  if (Object.hasOwn(tools, name)) return name as ToolName;
  return Object.hasOwn(aliases, name) ? aliases[name] : undefined;
}

/** Whether an agent with these capabilities may use a tool. Any may look into its own conversation, which is offered to it when needed. */
export function isCapable(capabilities: readonly string[], tool: string): boolean {
  const name = toolNamed(tool);
  return name === 'recall' || capabilities.some(own => own === tool || (name !== undefined && toolNamed(own) === name));
}

/** The tools of an agent that does a task for another one: it gives none itself. */
export function withoutDelegation(capabilities: readonly string[]): string[] {
  return capabilities.filter(name => !['task', 'agent_spawn'].includes(toolNamed(name) ?? ''));
}

/** `mcp__server__tool`: a tool of an MCP server, known only to that server. */
export function isExternalTool(name: string): boolean {
  return /^mcp__[A-Za-z0-9][A-Za-z0-9._-]*?__[A-Za-z0-9._-]+$/.test(name);
}
